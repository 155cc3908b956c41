import { Injectable } from '@nestjs/common';
import { invalidField } from '../common/errors/gateway-error.js';
import { TokenCounter } from '../text/tokens/token-counter.js';
import type { EmbeddingInput } from '../providers/ports/embedding.port.js';
import { MAX_TOKENS, mostInputTokens, mostTokensTogether } from './embedding-inputs.js';
import type { CountedTokens } from './embeddings-order.js';

/** Tokens of inputs. Those of texts are counted as the encoding `o200k_base` has them. */
@Injectable()
export class EmbeddingTokens {
  constructor(private readonly counter: TokenCounter) {}

  /** Tokens of all inputs together; an upper bound if they cannot be counted soon. */
  async of(accountId: string, inputs: readonly EmbeddingInput[]): Promise<CountedTokens> {
    const texts = inputs.filter((input) => typeof input === 'string');
    const ids = inputs.reduce((sum, input) => sum + (isText(input) ? 0 : input.length), 0);
    if (texts.length === 0) return { tokens: ids, isEstimated: false };
    const { tokens, isEstimated } = await this.counter.count(accountId, texts);
    return { tokens: tokens + ids, isEstimated };
  }

  /** Whether {@link check} has to count. */
  mayExceed(inputs: readonly EmbeddingInput[], maxInputTokens = MAX_TOKENS): boolean {
    const isLong = inputs.some((input) => mostInputTokens(input) > maxInputTokens);
    return isLong || mostTokensTogether(inputs) > MAX_TOKENS;
  }

  /**
   * Throws 400 for an input with more tokens than `maxInputTokens`, and for too many tokens together. Only texts with more
   * bytes are counted. What cannot be counted soon is left to the provider.
   */
  async check(
    accountId: string,
    inputs: readonly EmbeddingInput[],
    maxInputTokens = MAX_TOKENS,
  ): Promise<void> {
    if (!this.mayExceed(inputs, maxInputTokens)) return;
    const isLong = inputs.map((input) => mostInputTokens(input) > maxInputTokens);
    const counts = await Promise.all(
      inputs.map(async (input, index) =>
        isLong[index] ? await this.of(accountId, [input]) : undefined,
      ),
    );
    const place = counts.findIndex((count) => isAbove(count, maxInputTokens));
    if (place !== -1)
      throw invalidField(`input.${place}`, `must have at most ${maxInputTokens} tokens`);
    if (mostTokensTogether(inputs) <= MAX_TOKENS) return;
    if (isAbove(await this.of(accountId, inputs), MAX_TOKENS)) {
      throw invalidField('input', `must have at most ${MAX_TOKENS} tokens in all`);
    }
  }
}

function isAbove(count: CountedTokens | undefined, most: number): boolean {
  return count !== undefined && !count.isEstimated && count.tokens > most;
}

function isText(input: EmbeddingInput): input is string {
  return typeof input === 'string';
}
