import { Injectable } from '@nestjs/common';
import { Quota } from '../platform/fairness/quota.js';

/** Short strings take two to three times the memory of their characters, so many are joined to one. */
const MAX_PIECES = 64;
const MAX_JOINED_CHARS = 8_192;
/** Characters of the texts of all streams that are kept in memory: 128 MB if none of them is Latin. */
const MAX_CHARS = 64 * 1024 * 1024;
/** One account may use at most this fraction (one half) of the memory. */
const ACCOUNT_FRACTION = 2;

/** The text of one call, to be counted. */
export interface GeneratedText {
  readonly text: string;
  /** An upper bound of the tokens in text that is not kept, one for each byte. */
  readonly uncountedTokens: number;
}

/** The texts of all streams. One account may use at most half of their memory. */
@Injectable()
export class GeneratedTextBuffers {
  private readonly quota = new Quota({
    total: MAX_CHARS,
    perBucket: MAX_CHARS / ACCOUNT_FRACTION,
    what: 'texts of streams',
  });

  /**
   * Creates the buffer of a new stream. The caller must call {@link GeneratedTextBuffer.drop} at the end of the call.
   */
  begin(accountId: string): GeneratedTextBuffer {
    return new GeneratedTextBuffer(this.quota, accountId);
  }
}

/**
 * The text that a model has generated so far, which arrives in pieces of a few characters. It is counted if the
 * provider reports no usage. Text that exceeds the quota is not kept; its tokens are estimated from its bytes.
 */
export class GeneratedTextBuffer {
  private parts: string[] = [];
  private pieces: string[] = [];
  private pieceChars = 0;
  private keptChars = 0;
  private uncountedTokens = 0;

  constructor(
    private readonly quota: Quota,
    private readonly accountId: string,
  ) {}

  /** Adds pieces at the end. */
  push(texts: readonly string[]): void {
    for (const text of texts) {
      this.pieces.push(text);
      this.pieceChars += text.length;
      if (this.pieces.length >= MAX_PIECES || this.pieceChars >= MAX_JOINED_CHARS) this.join();
    }
  }

  /** Returns the whole text and forgets it. The quota stays acquired until {@link drop}. */
  take(): GeneratedText {
    const text = [...this.parts, ...this.pieces].join('');
    this.parts = [];
    this.pieces = [];
    return { text, uncountedTokens: this.uncountedTokens };
  }

  /** Releases the quota. Called once, at the end of the call. */
  drop(): void {
    this.quota.release(this.accountId, this.keptChars);
    this.keptChars = 0;
  }

  private join(): void {
    const part = this.pieces.join('');
    this.pieces = [];
    this.pieceChars = 0;
    // After the quota has rejected one piece it is not asked again, because every rejection creates an error object.
    const isKept =
      this.uncountedTokens === 0 && this.quota.acquire(this.accountId, part.length) === undefined;
    if (isKept) {
      this.parts.push(part);
      this.keptChars += part.length;
    } else this.uncountedTokens += Buffer.byteLength(part);
  }
}
