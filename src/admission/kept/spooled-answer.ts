import { createSecretKey, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { FRAME_BYTES, FrameSealer } from '../../common/secrets/sealed-frames.js';
import type { HeldBytes } from '../../media/held-bytes.js';
import type { Quota } from '../../platform/fairness/quota.js';

/** What may wait for the disk before the answer is stopped. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** For all of an answer: how long its caller may wait for the disk. After that it is not kept. */
const PATIENCE_MS = 3_000;
const KEY_BYTES = 32;

/** What a {@link SpooledAnswer} needs. */
export interface SpoolTerms {
  readonly accountId: string;
  /** What it is encrypted for. */
  readonly context: string;
  /** Bytes of copies in memory, by account. */
  readonly memory: Quota;
  /** Its file; never rejects. */
  readonly file: Promise<HeldBytes>;
}

/**
 * An answer that goes to a file while it is sent, encrypted with a key of its own. It is given up where the disk or the spool takes
 * no more, and where the disk is slow. Call {@link close} in any case; nothing rejects.
 */
export class SpooledAnswer {
  /** Opens what is in the file. */
  readonly key = randomBytes(KEY_BYTES);
  /** Bytes of the answer. */
  sizeBytes = 0;
  private readonly sealer: FrameSealer;
  private readonly frame = Buffer.allocUnsafe(FRAME_BYTES);
  private frameBytes = 0;
  private readonly waiting: Buffer[] = [];
  private waitingBytes = 0;
  private patienceMs = PATIENCE_MS;
  private isOpen = true;
  private writing: Promise<void> | undefined;
  private closing: Promise<void> | undefined;

  constructor(private readonly terms: SpoolTerms) {
    this.sealer = new FrameSealer(createSecretKey(this.key), terms.context);
  }

  /** Whether it was given up: further pieces are not taken. */
  get isGivenUp(): boolean {
    return !this.isOpen;
  }

  /** Takes a piece. If it returns a promise, wait for that before the next piece. */
  add(piece: Buffer): Promise<void> | undefined {
    if (!this.isOpen) return undefined;
    const { memory, accountId } = this.terms;
    if (!memory.tryAcquire(accountId, piece.length)) {
      void this.close();
      return undefined;
    }
    this.waiting.push(piece);
    this.waitingBytes += piece.length;
    this.sizeBytes += piece.length;
    this.writing ??= this.write();
    return this.waitingBytes > MAX_WAITING_BYTES ? this.caughtUp(this.writing) : undefined;
  }

  /** Resolves once all of the answer is in the file; false where it was given up, also by now because the disk is slow. */
  async end(): Promise<boolean> {
    if (this.isOpen && this.writing) await this.caughtUp(this.writing);
    if (this.isOpen) await this.caughtUp((this.writing = this.lastFrame()));
    return this.isOpen;
  }

  private async lastFrame(): Promise<void> {
    await this.writeFrame(await this.terms.file, true);
    this.writing = undefined;
  }

  /** What is in the file, after {@link end}. */
  async sealed(): Promise<Readable> {
    const file = await this.terms.file;
    // The code that reads the stream gets the error.
    return Readable.from(file.from(0), { objectMode: false }).on('error', () => undefined);
  }

  /** Gives up what is not stored elsewhere, and its file. A second call changes nothing. */
  close(): Promise<void> {
    this.isOpen = false;
    this.closing ??= this.free();
    return this.closing;
  }

  private async free(): Promise<void> {
    await this.writing;
    const { memory, accountId, file } = this.terms;
    memory.release(accountId, this.waitingBytes);
    this.waitingBytes = 0;
    this.waiting.length = 0;
    await (await file).close();
  }

  /** Writes what waits. */
  private async write(): Promise<void> {
    const { memory, accountId } = this.terms;
    const file = await this.terms.file;
    for (let piece = this.waiting.shift(); piece; piece = this.waiting.shift()) {
      await this.take(piece, file);
      if (!this.isOpen) break;
      this.waitingBytes -= piece.length;
      memory.release(accountId, piece.length);
    }
    this.writing = undefined;
  }

  private async take(piece: Buffer, file: HeldBytes): Promise<void> {
    for (let at = 0; at < piece.length && this.isOpen;) {
      const taken = piece.copy(this.frame, this.frameBytes, at);
      at += taken;
      this.frameBytes += taken;
      if (this.frameBytes === FRAME_BYTES) await this.writeFrame(file, false);
    }
  }

  private async writeFrame(file: HeldBytes, isLast: boolean): Promise<void> {
    const sealed = this.sealer.seal(this.frame.subarray(0, this.frameBytes), isLast);
    this.frameBytes = 0;
    if (!(await file.add(sealed))) void this.close();
  }

  /** Resolves once nothing waits, or the caller has waited for long enough. */
  private caughtUp(writing: Promise<void>): Promise<void> {
    const sinceMs = performance.now();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        void this.close();
        resolve();
      }, this.patienceMs);
      void writing.then(() => {
        clearTimeout(timer);
        this.patienceMs = Math.max(0, this.patienceMs - (performance.now() - sinceMs));
        resolve();
      });
    });
  }
}
