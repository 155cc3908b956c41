import { type FileHandle, open, rm } from 'node:fs/promises';
import { PRIVATE_FILE_MODE } from '../common/private-files.js';
import type { SpoolReservation } from './spool.js';

const READ_BYTES = 64 * 1024;

/** Bytes of a response in an unlinked file, so that nothing is left behind when the process is killed. */
export class HeldBytes {
  private bytes = 0;
  private isClosed = false;

  private constructor(
    private readonly file: FileHandle | undefined,
    private readonly reservation: SpoolReservation,
    private readonly maxBytes: number,
  ) {}

  /** If the file cannot be created, nothing can be added. */
  static async open(
    path: string,
    reservation: SpoolReservation,
    maxBytes: number,
  ): Promise<HeldBytes> {
    const file = await open(path, 'wx+', PRIVATE_FILE_MODE).catch(() => undefined);
    if (file) await rm(path, { force: true }).catch(() => undefined);
    return new HeldBytes(file, reservation, maxBytes);
  }

  get sizeBytes(): number {
    return this.bytes;
  }

  /** Returns false if the bytes exceed `maxBytes` or the spool's quota, or cannot be written. */
  async add(chunk: Buffer): Promise<boolean> {
    const { file } = this;
    if (file === undefined || this.bytes + chunk.length > this.maxBytes) return false;
    if (this.reservation.add(chunk.length) !== undefined) return false;
    try {
      for (let done = 0; done < chunk.length;) {
        const at = this.bytes + done;
        done += (await file.write(chunk, done, chunk.length - done, at)).bytesWritten;
      }
    } catch {
      return false;
    }
    this.bytes += chunk.length;
    return true;
  }

  /** At most so many bytes from a position on. */
  async readAt(position: number, length: number): Promise<Buffer> {
    const size = Math.max(0, Math.min(length, this.bytes - position));
    const bytes = Buffer.alloc(size);
    const read = await this.file?.read(bytes, 0, size, position);
    return bytes.subarray(0, read?.bytesRead ?? 0);
  }

  /** Everything from a position on, in pieces. */
  async *from(position: number): AsyncGenerator<Buffer> {
    for (let at = position; at < this.bytes;) {
      const piece = await this.readAt(at, READ_BYTES);
      if (piece.length === 0) throw new Error('held bytes are gone');
      at += piece.length;
      yield piece;
    }
  }

  /** Releases the reservation; a second call changes nothing. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.file?.close().catch(() => undefined);
    this.reservation.free();
  }
}
