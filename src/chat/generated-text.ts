import { Injectable } from '@nestjs/common';
import { Quota } from '../platform/fairness/quota.js';

/** Short strings take two to three times the memory of their characters, so that many are joined to one. */
const MAX_PIECES = 64;
const MAX_JOINED_CHARS = 8_192;
/** Characters of the texts of all streams that are kept at once: 128 MB where none of them is Latin. */
const MAX_CHARS = 64 * 1024 * 1024;
/** One account may have at most one of this many equal parts. */
const SHARES = 2;

/** The text of one call, to be counted. */
export interface GeneratedText {
  readonly text: string;
  /** An upper bound of the tokens in text that is not kept, one for each byte. */
  readonly uncountedTokens: number;
}

/** The texts of all streams. One account leaves half of their room to the others. */
@Injectable()
export class GeneratedTextBuffers {
  private readonly room = new Quota({
    total: MAX_CHARS,
    perHolder: MAX_CHARS / SHARES,
    what: 'texts of streams',
  });

  /** The text of a stream that begins; it has to be dropped at the end of its call. */
  begin(accountId: string): GeneratedTextBuffer {
    return new GeneratedTextBuffer(this.room, accountId);
  }
}

/**
 * The text that a model has made so far, which arrives in pieces of a few characters. It is counted if the provider
 * reports no usage. Text for which there is no room is not kept; its tokens are estimated from its bytes.
 */
export class GeneratedTextBuffer {
  private parts: string[] = [];
  private pieces: string[] = [];
  private pieceChars = 0;
  private keptChars = 0;
  private uncountedTokens = 0;

  constructor(
    private readonly room: Quota,
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

  /** The whole text. It is no longer kept here, but its room stays taken until {@link drop}. */
  take(): GeneratedText {
    const text = [...this.parts, ...this.pieces].join('');
    this.parts = [];
    this.pieces = [];
    return { text, uncountedTokens: this.uncountedTokens };
  }

  /** Gives the room back; called once, at the end of the call. */
  drop(): void {
    this.room.release(this.accountId, this.keptChars);
    this.keptChars = 0;
  }

  private join(): void {
    const part = this.pieces.join('');
    this.pieces = [];
    this.pieceChars = 0;
    // After one refusal no room is asked for again, because every refusal costs an error object.
    const isKept =
      this.uncountedTokens === 0 && this.room.acquire(this.accountId, part.length) === undefined;
    if (isKept) {
      this.parts.push(part);
      this.keptChars += part.length;
    } else this.uncountedTokens += Buffer.byteLength(part);
  }
}
