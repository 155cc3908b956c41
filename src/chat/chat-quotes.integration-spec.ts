import { describe, expect, it } from '@jest/globals';
import { CHAT_MODELS } from '../catalog/models/chat.models.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { heldTextOf } from '../text/held-text.js';
import { chargeOf, quoteOf } from '../text/text-quote.js';
import { countTokens } from '../text/tokens/count-tokens.js';
import { chatRequestOf } from './chat-request.js';
import { ChatBody } from './dto/chat.body.js';

const [row] = CHAT_MODELS;
const parsed = (fields: object) =>
  validatorOf(ChatBody).parse({
    model: row.id,
    messages: [{ role: 'user', content: 'Hello' }],
    ...fields,
  });
const quoted = (fields: object, ofRow: typeof row = row) =>
  quoteOf(ofRow, chatRequestOf(ofRow, parsed(fields)));
const ceiling = (fields: object) => quoted(fields).hold.amountMicroUsd;
const usageOf = (promptTokens: number, completionTokens: number) => ({
  promptTokens,
  completionTokens,
  cachedTokens: null,
  reasoningTokens: null,
});
const image = (url: string) => ({
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
});

describe('the ceiling of a chat', () => {
  it('covers the maximum output of the model if the request has no limit', () => {
    expect(ceiling({})).toBeGreaterThan(1_280_000n);
    expect(ceiling({})).toBeLessThan(1_281_000n);
    expect(ceiling({ max_tokens: 10 })).toBeLessThan(300n);
    expect(ceiling({ max_tokens: 99_999_999 })).toBe(ceiling({ max_tokens: 128_000 }));
  });

  it('covers the longest response that can be read completely if log probabilities are requested', () => {
    const asked = { logprobs: true, top_logprobs: 20 };
    const maxTokens = (fields: object) => {
      const { hold, maxTokens: wanted } = quoted(fields);
      return wanted ?? hold.outputCapFor?.(hold.amountMicroUsd);
    };
    expect(maxTokens(asked)).toBe(2_663);
    expect(maxTokens({ ...asked, max_tokens: 100_000 })).toBe(2_663);
    expect(maxTokens({ ...asked, max_tokens: 100 })).toBe(100);
    expect(ceiling(asked)).toBe(ceiling({ ...asked, max_tokens: 2_663 }));
    expect(maxTokens({ ...asked, stream: true })).toBe(128_000);
    expect(maxTokens({ logprobs: false })).toBe(128_000);
    // Such a vendor ends its stream with an event that has the whole answer again.
    const [route] = row.routes;
    const repeating = {
      ...row,
      routes: [...row.routes, { ...route, upstreamProtocol: 'responses' as const }],
    };
    const streamed = (fields: object) => {
      const { hold, maxTokens: wanted } = quoted({ stream: true, ...fields }, repeating as never);
      return wanted ?? hold.outputCapFor?.(hold.amountMicroUsd);
    };
    expect(streamed({ ...asked, max_tokens: 100_000 })).toBe(2_663);
    expect(streamed({ logprobs: true })).toBe(55_924);
    expect(streamed({})).toBe(128_000);
  });

  it('always sends a cap to the provider, under the parameter name that the caller used', () => {
    const chosen: number[] = [];
    const cap = (fields: object, amountMicroUsd?: bigint) => {
      const quote = quoted(fields);
      const held = {
        outcome: 'held',
        amountMicroUsd: amountMicroUsd ?? quote.hold.amountMicroUsd,
        capReason: 'balance',
      } as const;
      const onOutputCap = (tokens: number) => chosen.push(tokens);
      const paid = { held, response: undefined, onOutputCap };
      const { maxTokens, outputCapParameter } = heldTextOf(quote, paid).command;
      return [maxTokens, outputCapParameter];
    };
    expect(cap({ max_tokens: 7 })).toEqual([7, 'max_tokens']);
    expect(cap({ max_completion_tokens: 999_999 })).toEqual([128_000, 'max_completion_tokens']);
    expect(chosen).toEqual([]);
    expect(cap({})).toEqual([128_000, undefined]);
    expect(cap({ stream: true })).toEqual([128_000, undefined]);
    expect(cap({}, 50_050n)).toEqual([5_000, undefined]);
    expect(chosen).toEqual([128_000, 128_000, 5_000]);
  });

  it.each(['漢字'.repeat(500), '🌍'.repeat(500), 'word '.repeat(500), 'x'.repeat(3_000), '"\\'])(
    'covers every token of the prompt %#',
    (content) => {
      const ceilingMicroUsd = ceiling({ max_tokens: 1, messages: [{ role: 'user', content }] });
      const usage = usageOf(countTokens(content) + 7, 1);
      expect(chargeOf(row, usage, 1_000_000n).chargedMicroUsd).toBeLessThanOrEqual(ceilingMicroUsd);
    },
  );

  it('is fitted to the money without a cap: from prompt and fewest tokens to the whole output', () => {
    const { hold } = quoted({});
    expect(hold.fit).toEqual({
      promptMicroUsd: 50n,
      floorMicroUsd: 50n + 4_096n * 10n,
    });
    expect(hold.amountMicroUsd).toBe(50n + 128_000n * 10n);
    expect(quoted({ max_tokens: 5 }).hold.fit).toBeUndefined();
    const small = { ...row, limits: { maxOutputTokens: 100 } };
    const { amountMicroUsd, fit } = quoted({}, small).hold;
    expect(fit?.floorMicroUsd).toBe(amountMicroUsd);
  });

  it('counts an image 4,096 tokens whatever its bytes', () => {
    const small = ceiling({ max_tokens: 1, ...image('data:image/png;base64,AAAA') });
    const large = ceiling({ max_tokens: 1, ...image(`data:image/png;base64,${'A'.repeat(1e6)}`) });
    expect(large).toBe(small);
    expect(small).toBeGreaterThan((4_096n * 125n + 99n) / 100n);
  });

  it.each(['tools', 'metadata', 'response_format', 'user'])('counts the text of %s', (name) => {
    const text = 'long '.repeat(100);
    const value: Record<string, unknown> = {
      tools: [
        { type: 'function', function: { name: 'f', parameters: { image_url: { url: text } } } },
      ],
      metadata: { text },
      response_format: { type: 'json_schema', json_schema: { description: text } },
      user: text,
    };
    const added = ceiling({ max_tokens: 1, [name]: value[name] }) - ceiling({ max_tokens: 1 });
    expect(added).toBeGreaterThanOrEqual(500n);
  });

  it('caps the charge and marks it as capped', () => {
    const usage = usageOf(1_000_000, 1_000_000);
    expect(chargeOf(row, usage, 77n)).toEqual({ chargedMicroUsd: 77n, isCapped: true });
    expect(chargeOf(row, usageOf(0, 0), 77n)).toEqual({
      chargedMicroUsd: 0n,
      isCapped: false,
    });
  });
});
