import { textFault } from '../common/validation/text-rule.js';
import type { PartFault } from '../common/validation/fields.js';
import type { EmbeddingInput } from '../providers/ports/embedding.port.js';

/** Most inputs of a call. */
export const MAX_INPUTS = 2_048;
/** Most tokens of a call. */
export const MAX_TOKENS = 300_000;
/** Above the ids of every vocabulary. */
const MAX_TOKEN_ID = 2 ** 31 - 1;
/** A text is bounded by the body. */
const TEXT = { min: 1, max: Infinity, blank: 'allowed' } as const;

/** `input` of a body: a text, texts, the token ids of one text, or those of several. */
export type InputField = string | readonly string[] | readonly number[] | readonly number[][];

/** What is wrong with `input`, which names the first wrong one by its place. */
export function embeddingInputFault(value: unknown): PartFault | undefined {
  if (typeof value === 'string') return faultOfText(value, '');
  if (!Array.isArray(value)) {
    return { at: '', says: 'must be a text, a list of texts, or lists of token ids' };
  }
  const items = value as readonly unknown[];
  const [first] = items;
  if (typeof first === 'number') return faultOfTokens(items, '');
  if (items.length === 0 || items.length > MAX_INPUTS) {
    return { at: '', says: `must have 1 to ${MAX_INPUTS} inputs` };
  }
  const faultOf = typeof first === 'string' ? faultOfText : faultOfTokens;
  for (const [index, item] of items.entries()) {
    const fault = faultOf(item, `.${index}`);
    if (fault) return fault;
  }
  return undefined;
}

/** The inputs of a valid field, in their order. */
export function inputsOf(field: InputField): readonly EmbeddingInput[] {
  if (typeof field === 'string') return [field];
  return typeof field[0] === 'number'
    ? [field as readonly number[]]
    : (field as readonly EmbeddingInput[]);
}

/** No input has more tokens than this: one for each byte of a text. */
export function mostInputTokens(input: EmbeddingInput): number {
  return typeof input === 'string' ? Buffer.byteLength(input) : input.length;
}

/** No call has more tokens than this. */
export function mostTokensTogether(inputs: readonly EmbeddingInput[]): number {
  return inputs.reduce((sum, input) => sum + mostInputTokens(input), 0);
}

function faultOfText(value: unknown, at: string): PartFault | undefined {
  const says = value === '' ? 'must not be empty' : textFault(value, TEXT);
  return says === undefined ? undefined : { at, says };
}

function faultOfTokens(value: unknown, at: string): PartFault | undefined {
  if (!Array.isArray(value)) return { at, says: 'must be a text or a list of token ids' };
  if (value.length === 0) return { at, says: 'must not be empty' };
  const wrong = (value as readonly unknown[]).findIndex((id) => !isTokenId(id));
  return wrong === -1 ? undefined : { at: `${at}.${wrong}`, says: 'must be a token id' };
}

function isTokenId(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_TOKEN_ID;
}
