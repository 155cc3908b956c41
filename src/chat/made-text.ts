/** Short strings take two to three times the memory of their characters, so that many are joined to one. */
const MAX_PIECES = 64;

/** The text that a model has made so far, which arrives in pieces of a few characters. */
export class MadeText {
  private readonly parts: string[] = [];
  private pieces: string[] = [];

  /** Adds pieces at the end. */
  push(...texts: readonly string[]): void {
    this.pieces.push(...texts);
    if (this.pieces.length < MAX_PIECES) return;
    this.parts.push(this.pieces.join(''));
    this.pieces = [];
  }

  /** All of it, which is not kept here any longer. */
  take(): string {
    return [...this.parts.splice(0), ...this.pieces.splice(0)].join('');
  }
}
