import type { Response } from 'express';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Quota } from '../../platform/fairness/quota.js';
import {
  type AnswerCopy,
  KEPT_HEADER,
  SANDBOX_HEADER,
  type SentAnswer,
} from '../../platform/http-server/responses/answer-copy.js';
import {
  CHARGE_HEADER,
  IGNORED_FIELDS_HEADER,
  OUTPUT_CAP_HEADER,
  OUTPUT_CAP_REASON_HEADER,
  STORED_HEADERS,
} from '../../platform/http-server/responses/gateway-headers.js';
import type { CallKeyClaim } from './call-keys.js';
import type { KeptAnswers } from './kept-answers.js';
import type { KeptFiles } from './kept-files.js';
import type { SpooledAnswer } from './spooled-answer.js';
import { keyConflict } from './turns.js';

/** Most bytes of an answer that is kept in a row. Audio, and what is whole in memory, goes to a file beyond it. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** Audio above this goes to a file while it is sent. */
const AUDIO_IN_MEMORY_BYTES = 256 * 1024;

/** Characters of an answer in memory that become bytes at once. */
const WHOLE_PIECE_CHARACTERS = 262_144;
const HIGH_SURROGATE = /[\uD800-\uDBFF]/;

/** What a kept answer says again beside its type. */
const HEADERS: readonly string[] = [
  CHARGE_HEADER,
  IGNORED_FIELDS_HEADER,
  OUTPUT_CAP_HEADER,
  OUTPUT_CAP_REASON_HEADER,
  SANDBOX_HEADER,
  ...Object.keys(STORED_HEADERS),
];

/** How a paid call ended: `none`, and it will never be charged; charged; or the outcome of its settlement is not known. */
export type Settlement = 'none' | 'unknown' | 'done';

/** What a call with kept answer has. */
export interface KeptCallTerms {
  readonly accountId: string;
  /** UUID. */
  readonly executionId: string;
  readonly answers: Pick<KeptAnswers, 'keep'>;
  readonly files: Pick<KeptFiles, 'begin' | 'keep'>;
  /** Bytes of copies in memory, by account. */
  readonly memory: Quota;
  /** The right to make the call of its idempotency key; `conflict`: the key has another body. */
  readonly key?: CallKeyClaim | 'conflict' | undefined;
}

/**
 * A synchronous call whose answer is kept, from its admission on: copies the answer while it is sent, and ends the claim of its
 * idempotency key, if it has one. A key is freed unless a charge was asked for; then the execution says what it leads to.
 */
export class KeptCall implements AnswerCopy {
  private pieces: (string | Buffer)[] | undefined = [];
  private bytes = 0;
  /** Has all of the answer where it is too large for memory. */
  private spooled: SpooledAnswer | undefined;
  private hasBegun = false;
  private isReleased = false;
  onDrop: (() => void) | undefined;
  /** The end of the claim is written. */
  private ended: Promise<void> | undefined;
  private settlement: Settlement;

  /** `settlement`: `done` for a call that is charged already. */
  constructor(
    private readonly terms: KeptCallTerms,
    settlement: Settlement = 'none',
  ) {
    this.settlement = settlement;
  }

  get isOpen(): boolean {
    return this.pieces !== undefined;
  }

  /**
   * The call is about to be held. Throws 409 `idempotency_conflict`; also throws where the client left before, because the key was
   * freed then.
   */
  begin(): void {
    if (this.terms.key === 'conflict') throw keyConflict();
    if (this.isReleased) throw new GatewayError('invalid_request', 'The client has left.');
    this.hasBegun = true;
  }

  /** The paid call has ended. */
  onEnd(settlement: Settlement): void {
    this.settlement = settlement;
    if (settlement === 'done') return;
    this.forget();
    this.ended = settlement === 'none' ? this.claim?.release() : this.claim?.leave();
  }

  async refused(): Promise<void> {
    this.forget();
    if (!this.hasBegun) {
      this.isReleased = true;
      this.ended ??= this.claim?.release();
    } else if (this.settlement === 'done') {
      // It was charged, and then something failed: the key is bound without an answer.
      this.ended ??= this.claim?.finish();
    }
    await this.ended;
  }

  /** The response has ended or its client has left. */
  onClose(): void {
    if (this.hasBegun) return;
    void this.refused();
  }

  add(piece: string | Buffer): void {
    if (!this.pieces) return;
    const { memory, accountId } = this.terms;
    // A longer text has no fewer bytes, and counting them takes long.
    const bytes = piece.length > MAX_ANSWER_BYTES ? piece.length : Buffer.byteLength(piece);
    if (this.bytes + bytes > MAX_ANSWER_BYTES || !memory.tryAcquire(accountId, bytes)) {
      this.drop();
      return;
    }
    this.bytes += bytes;
    this.pieces.push(piece);
  }

  async addWhole(answer: string): Promise<void> {
    const fits = answer.length <= MAX_ANSWER_BYTES && Buffer.byteLength(answer) <= MAX_ANSWER_BYTES;
    if (fits || this.terms.key !== undefined) {
      this.add(answer);
      return;
    }
    // The rest of an answer that was given up does not become bytes: nothing would wait between its pieces.
    for (let at = 0; at < answer.length && this.isOpen && this.spooled?.isGivenUp !== true;) {
      const end = endOfPiece(answer, at);
      const piece = Buffer.from(answer.slice(at, end));
      await this.addSpooled(piece);
      at = end;
    }
  }

  addAudio(piece: Buffer): Promise<void> | undefined {
    if (this.spooled || this.bytes + piece.length > AUDIO_IN_MEMORY_BYTES)
      return this.addSpooled(piece);
    this.add(piece);
    return undefined;
  }

  /** Adds to the file, which begins here if there is none. */
  private addSpooled(piece: Buffer): Promise<void> | undefined {
    if (this.spooled) return this.spooled.add(piece);
    return this.pieces && this.spool(this.pieces, piece);
  }

  /** Goes on in a file. */
  private spool(earlier: readonly (string | Buffer)[], piece: Buffer): Promise<void> | undefined {
    const { files, accountId, executionId, memory } = this.terms;
    const beginning = bytesOf(earlier);
    memory.release(accountId, this.bytes);
    this.bytes = 0;
    this.pieces = [];
    this.spooled = files.begin(accountId, executionId, memory);
    if (!this.spooled) {
      this.drop();
      return undefined;
    }
    if (beginning.length > 0) void this.spooled.add(beginning);
    return this.spooled.add(piece);
  }

  drop(): void {
    const { onDrop } = this;
    this.forget();
    onDrop?.();
  }

  /** Gives up the copy of an answer that has ended. */
  private forget(): void {
    this.onDrop = undefined;
    if (this.pieces) this.terms.memory.release(this.terms.accountId, this.bytes);
    this.pieces = undefined;
    this.bytes = 0;
    void this.spooled?.close();
    this.spooled = undefined;
  }

  async keep(response: Response, contentType: string): Promise<void> {
    if (this.settlement !== 'done') {
      this.forget();
      return;
    }
    const isKept = await this.stored(contentType, headersOf(response));
    this.forget();
    if (!isKept && !response.headersSent) response.setHeader(KEPT_HEADER, 'false');
    await this.claim?.finish();
  }

  private async stored(contentType: string, headers: SentAnswer['headers']): Promise<boolean> {
    const { accountId, executionId: id, answers, files } = this.terms;
    const { pieces, spooled } = this;
    if (!pieces) return false;
    const answer = { accountId, id, contentType, headers };
    return spooled
      ? files.keep(answer, spooled)
      : answers.keep({ ...answer, body: () => bytesOf(pieces) });
  }

  private get claim(): CallKeyClaim | undefined {
    const { key } = this.terms;
    return key === 'conflict' ? undefined : key;
  }
}

/** Where the piece that begins at `start` ends: not between the two halves of a character. */
function endOfPiece(answer: string, start: number): number {
  const end = start + WHOLE_PIECE_CHARACTERS;
  if (end >= answer.length) return answer.length;
  return HIGH_SURROGATE.test(answer.charAt(end - 1)) ? end - 1 : end;
}

/** Texts become bytes only here: many small buffers would keep the larger ones that they are cut from. */
const bytesOf = (pieces: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));

function headersOf(response: Response): Record<string, string> {
  const set = HEADERS.flatMap((name) => {
    const value = response.getHeader(name);
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  return Object.fromEntries(set);
}
