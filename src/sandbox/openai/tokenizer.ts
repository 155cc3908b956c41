const TOKEN = /\s?\p{L}{1,4}|\s?\p{N}{1,3}|\s?[^\s\p{L}\p{N}]|\s/gu;
/** Tokens every message costs besides its text, and the reply's own beginning. */
const TOKENS_PER_MESSAGE = 3;

/**
 * Splits a text into the sandbox's tokens: up to four letters or three digits or one other character, with the white
 * space before it. Joined again they are the text. The count is the truth of the sandbox's own usage numbers.
 */
export function tokensOf(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

/** Tokens of a prompt: those of its texts, three per message and three for the reply's beginning. */
export function countPromptTokens(texts: readonly string[]): number {
  return texts.reduce(
    (sum, text) => sum + tokensOf(text).length + TOKENS_PER_MESSAGE,
    TOKENS_PER_MESSAGE,
  );
}
