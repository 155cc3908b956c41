const TOKEN = /\s?\p{L}{1,4}|\s?\p{N}{1,3}|\s?[^\s\p{L}\p{N}]|\s/gu;
/** Tokens that every message costs in addition to its text, and tokens that begin a reply. */
const TOKENS_PER_MESSAGE = 3;

/**
 * Splits a text into the sandbox's tokens: up to four letters, up to three digits or one other character, each with the
 * white space before it. Joined they are the text again. The sandbox's usage numbers count these tokens.
 */
export function tokensOf(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

/** Tokens of a prompt: those of its texts, three per message and three for the beginning of the reply. */
export function countPromptTokens(texts: readonly string[]): number {
  return texts.reduce(
    (sum, text) => sum + tokensOf(text).length + TOKENS_PER_MESSAGE,
    TOKENS_PER_MESSAGE,
  );
}
