import { isTooLong } from '../../common/errors/error-body.js';
import { GatewayError } from '../../common/errors/gateway-error.js';

/** Sizes of a request, in tokens. */
export interface ContextSizes {
  /** The prompt, counted here; undefined where it could not be counted soon. */
  readonly promptTokens: () => Promise<number | undefined>;
  /** The output cap that the vendor got; undefined where the caller set none. */
  readonly maxTokens: number | undefined;
  /** What the model takes, prompt and answer together; undefined where that is not known. */
  readonly contextLength: number | undefined;
}

/**
 * The refusal of a conversation that is too long, in the sentence and with the numbers from which clients of Messages work
 * out what to shorten. Any other error stays as it is, and so does this one where our count does not explain it: the
 * vendor counts for itself, and only its count decides.
 */
export async function withContextSizes<T>(
  thrown: T,
  sizes: ContextSizes,
): Promise<T | GatewayError> {
  const { contextLength: most } = sizes;
  if (!(thrown instanceof GatewayError) || !isTooLong(thrown) || most === undefined) return thrown;
  const prompt = await sizes.promptTokens();
  if (prompt === undefined) return thrown;
  const sentence = sentenceOf(prompt, sizes.maxTokens ?? 0, most);
  return sentence === undefined ? thrown : thrown.withMessage(sentence);
}

function sentenceOf(prompt: number, cap: number, most: number): string | undefined {
  if (prompt > most) return `prompt is too long: ${prompt} tokens > ${most} maximum`;
  if (prompt + cap <= most) return undefined;
  return `input length and \`max_tokens\` exceed context limit: ${prompt} + ${cap} > ${most}, decrease input length or \`max_tokens\` and try again`;
}
