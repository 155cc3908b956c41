import { expect, it } from '@jest/globals';
import { CHAT_MODELS } from '../../src/catalog/models/chat.models.js';
import type { ModelRow } from '../../src/catalog/model-row.js';
import { chargeOf } from '../../src/text/text-quote.js';
import { usageOf } from '../../src/providers/text/token-usage.js';

const TURNS = 60;
/** What the system prompt, the tools and the first files are, and what each turn adds: the tokens of a long session. */
const FIRST_PROMPT = 24_000;
const PROMPT_PER_TURN = 1_840;
const MUCH = 10n ** 12n;

/** The vendors' published prices in USD for a million tokens: input, cached input, output. */
const PUBLISHED: readonly (readonly [string, string, string, string])[] = [
  ['gen-5', '1.25', '0.125', '10.00'],
  ['gen-5-mini', '0.25', '0.025', '2.00'],
  ['gen-4-mini', '0.40', '0.10', '1.60'],
];

/** A turn as the provider reports it: 90 % of its prompt cached, the reasoning inside the completion. */
function turnOf(index: number) {
  const prompt = FIRST_PROMPT + index * PROMPT_PER_TURN;
  const cached = prompt - Math.ceil(prompt / 10);
  const completion = 317 + ((index * 7_919) % 2_311);
  return { prompt, cached, completion };
}

/** Whole micro-USD per million tokens of a price such as 0.125 USD. */
const microUsdOf = (usd: string): bigint => {
  const [whole = '', fraction = ''] = usd.split('.');
  return BigInt(whole + fraction.padEnd(6, '0'));
};

it.each(PUBLISHED)(
  'a coding session of 60 turns with %s costs what the published lines give, to the micro-USD',
  (id, input, cachedInput, output) => {
    const row: ModelRow<'chat'> | undefined = CHAT_MODELS.find((model) => model.id === id);
    let charged = 0n;
    let due = 0n;
    let shareOfCached = 0;
    for (let index = 0; index < TURNS; index++) {
      const { prompt, cached, completion } = turnOf(index);
      shareOfCached += cached / prompt / TURNS;
      const usage = usageOf({
        usage: {
          prompt_tokens: prompt,
          completion_tokens: completion,
          total_tokens: prompt + completion,
          prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
          completion_tokens_details: { reasoning_tokens: 192 },
        },
      });
      const turn = chargeOf(row!, usage!, MUCH);
      expect(turn.isCapped).toBe(false);
      charged += turn.chargedMicroUsd;
      const scaled =
        BigInt(prompt - cached) * microUsdOf(input) +
        BigInt(cached) * microUsdOf(cachedInput) +
        BigInt(completion) * microUsdOf(output);
      due += scaled / 1_000_000n + (scaled % 1_000_000n > 0n ? 1n : 0n);
    }
    expect(shareOfCached).toBeCloseTo(0.9, 3);
    expect(charged).toBe(due);
  },
);

it('the whole session with gen-5 costs 2.00 USD, where its prompt without the cache would cost 6.76', () => {
  const [row] = CHAT_MODELS;
  const sum = (share: 'cached' | 'none') =>
    Array.from({ length: TURNS }, (_, index) => turnOf(index)).reduce((total, turn) => {
      const usage = {
        promptTokens: turn.prompt,
        completionTokens: turn.completion,
        cachedTokens: share === 'cached' ? turn.cached : null,
        reasoningTokens: null,
      };
      return total + chargeOf(row, usage, MUCH).chargedMicroUsd;
    }, 0n);
  expect([sum('cached'), sum('none')]).toEqual([2_003_140n, 6_758_650n]);
});
