import type { ModelRow } from '../catalog/model-row.js';
import { factorOf } from '../catalog/price-factor.js';
import type { Fit, Quote } from '../common/money/charge-basis.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { linesOf, type PriceLine, sumOf } from '../common/money/price-lines.js';
import type { TokenUsage } from '../providers/ports/chat.port.js';
import { countsOf, unitPricesOf } from './charge-basis.js';
import type { TextRequest } from './text-request.js';
import { TokenCeiling } from './token-ceiling.js';

/** A checked request, and what to hold for it. */
export interface TextQuote {
  readonly asked: TextRequest;
  /** Its output cap is known once the money is held (held-text.ts). */
  readonly hold: Quote;
  /** The lines of a hold for so many output tokens. */
  readonly linesFor: (outputTokens: number) => readonly PriceLine[];
  /** The output cap that the caller wants, within the model's own; undefined: what the hold pays for (decision G-106). */
  readonly maxTokens: number | undefined;
}

/** What of a model decides on the price of a text. */
export type PricedText = Pick<ModelRow<'chat'>, 'price' | 'limits' | 'minOutputTokens'>;

/**
 * What to hold for a request of any face. The ceiling is the prompt's upper bound and the output cap, each at its dearest
 * price (decision G-23). Without a cap of the caller's, at least the model's fewest output tokens are held.
 */
export function quoteOf(row: PricedText, asked: TextRequest): TextQuote {
  const { promptTokens, maxTokens: wanted, longestAnswerTokens = Infinity } = asked;
  const most = Math.min(row.limits.maxOutputTokens, longestAnswerTokens);
  const maxTokens = wanted === undefined ? undefined : Math.min(wanted, most);
  const ceiling = TokenCeiling.of(row.price, promptTokens);
  return {
    asked,
    hold: {
      amountMicroUsd: ceiling.amountFor(maxTokens ?? most),
      fit:
        maxTokens === undefined ? fitOf(ceiling, Math.min(row.minOutputTokens, most)) : undefined,
      basis: null,
      outputCapFor: (amount) => {
        const tokens = ceiling.tokensFor(amount, most);
        return tokens > 0 ? tokens : undefined;
      },
      outputCapField: outputCapFieldOf(asked.request),
    },
    linesFor: (outputTokens) => ceiling.linesFor(outputTokens),
    maxTokens,
  };
}

function outputCapFieldOf(request: TextRequest['request']): string {
  if (request.protocol === 'responses') return 'max_output_tokens';
  return request.outputCapParameter ?? 'max_tokens';
}

function fitOf(ceiling: TokenCeiling, minOutputTokens: number): Fit {
  const promptMicroUsd = ceiling.amountFor(0);
  return { floorMicroUsd: ceiling.amountFor(minOutputTokens), promptMicroUsd };
}

/** The charge, and whether it was reduced to the ceiling. */
export interface TextCharge {
  readonly chargedMicroUsd: MicroUsd;
  readonly isCapped: boolean;
}

/** The charge of the usage: the sum of its lines, rounded up once (decision G-23), at most the ceiling. */
export function chargeOf(
  row: Pick<ModelRow<'chat'>, 'price'>,
  usage: TokenUsage,
  ceilingMicroUsd: MicroUsd,
): TextCharge {
  const quantity = countsOf(usage);
  const unitPrice = unitPricesOf(row.price, quantity);
  const charge = sumOf(linesOf({ unit: 'token', quantity, unitPrice }), factorOf(row.price));
  const isCapped = charge > ceilingMicroUsd;
  return { chargedMicroUsd: isCapped ? ceilingMicroUsd : charge, isCapped };
}
