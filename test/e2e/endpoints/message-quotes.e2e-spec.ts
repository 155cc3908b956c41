import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf } from '../../support/http-answer.js';
import { QuoteHarness } from '../../support/quote-harness.js';

const PATH = '/v1/messages';
const HELLO = {
  model: 'gen-5-mini',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Say hello' }],
};

let harness: QuoteHarness;

beforeAll(async () => {
  harness = await QuoteHarness.start();
});
afterAll(() => harness.stop());

const request = (fields: object = {}) => ({ path: PATH, body: { ...HELLO, ...fields } });

describe('a quote of a message', () => {
  it('is what its call holds, by lines', async () => {
    const quote = await harness.quote(request());
    expect(quote).toMatchObject({ model: 'gen-5-mini', charge_microusd: null, fits: true });
    expect(quote.lines.map(({ unit }) => unit)).toEqual(['input', 'output']);
    const answer = await harness.call(request());
    expect(answer.status).toBe(200);
    expect(await harness.heldBy(answer)).toBe(quote.hold_microusd);
  });

  it('without max_tokens fits its output cap to the balance, as the call does', async () => {
    const small = await harness.gateway.account(20_000n);
    const { messages, model } = HELLO;
    const body = { path: PATH, body: { messages, model } };
    const quote = await harness.quote(body, small);
    expect(quote).toMatchObject({ fits: true, output_cap: expect.any(Number) });
    const answer = await harness.call(body, small);
    expect(answer.headers.get('x-gateway-output-cap')).toBe(String(quote.output_cap));
  });

  it.each([
    ['a field that is wrong', { messages: [{ role: 'tool', content: 'a' }] }],
    [
      'a document without a price',
      {
        messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'base64' } }] }],
      },
    ],
    ['an unknown model', { model: 'gen-99' }],
    ['tools that the vendor runs', { tools: [{ type: 'bash_20250124', name: 'bash' }] }],
  ])(
    'tells the refusal that the call would get, in the words of Messages: %s',
    async (_what, fields) => {
      const { error } = await harness.quote(request(fields));
      expect(error).toEqual(errorOf(await harness.call(request(fields))));
      expect(error?.type).toMatch(/^(invalid_request|not_found)_error$/);
    },
  );

  it('does not fit a balance that is too small, as the call does not', async () => {
    const poor = await harness.gateway.account(1n);
    const quote = await harness.quote(request(), poor);
    expect(quote.fits).toBe(false);
    const refused = errorOf(await harness.call(request(), poor));
    expect(refused).toMatchObject({
      type: 'billing_error',
      needed_microusd: quote.hold_microusd,
    });
  });

  it('binds one call of the same body, and no other one', async () => {
    const { id, hold_microusd: hold } = await harness.quote(request());
    const answer = await harness.call(request(), harness.account, id);
    expect([answer.status, await harness.heldBy(answer)]).toEqual([200, hold]);
    const other = await harness.call(request({ max_tokens: 101 }), harness.account, id);
    expect(errorOf(other)).toMatchObject({ type: 'invalid_request_error', code: 'invalid_quote' });
    const ofChat = { path: '/v1/chat/completions', body: HELLO };
    expect(errorOf(await harness.call(ofChat, harness.account, id)).code).toBe('invalid_quote');
  });
});
