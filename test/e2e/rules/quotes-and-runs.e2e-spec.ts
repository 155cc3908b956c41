import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { QuoteHarness, type QuoteAnswer, type TestRequest } from '../../support/quote-harness.js';

const SPEECH: TestRequest = { path: '/v1/audio/speech', body: HELLO };
const CHAT: TestRequest = {
  path: '/v1/chat/completions',
  body: { model: 'gen-5-mini', messages: [{ role: 'user', content: 'Hi' }] },
};

let harness: QuoteHarness;

beforeAll(async () => {
  harness = await QuoteHarness.start();
});
afterAll(() => harness.stop());

const headersOf = (run: string, limit?: string) => ({
  ...harness.account.headers,
  'x-gateway-run': run,
  ...(limit !== undefined && { 'x-gateway-run-limit-microusd': limit }),
});
async function quoted(request: TestRequest, run: string, limit?: string): Promise<QuoteAnswer> {
  const answer = await harness.ask(request, { ...harness.account, headers: headersOf(run, limit) });
  expect(answer.status).toBe(200);
  return answer.json as QuoteAnswer;
}
const called = ({ path, body }: TestRequest, run: string, limit?: string): Promise<Answer> =>
  postJson(`${harness.gateway.url}${path}`, headersOf(run, limit), body);

describe('a quote that names a run', () => {
  it('has what the call would hold of a run that is not known yet, and begins none', async () => {
    const poor = await quoted(SPEECH, 'new', '599');
    expect(poor).toMatchObject({ hold_microusd: '600', fits: false, available_microusd: '599' });
    expect(poor.error).toEqual(errorOf(await called(SPEECH, 'new', '599')));
    expect(poor.error).toMatchObject({ param: 'x-gateway-run' });
    const { headers } = harness.account;
    expect((await send(`${harness.gateway.url}/v1/runs/new`, { headers })).status).toBe(404);
    expect(await quoted(SPEECH, 'new')).toMatchObject({ fits: true });
  });

  it('has what the call would hold of a run that has spent some of its limit', async () => {
    expect((await called(SPEECH, 'used', '15000')).status).toBe(200);
    const left = { available_microusd: '14400' };
    expect(await quoted(SPEECH, 'used')).toMatchObject({ ...left, fits: true });
    const chat = await quoted(CHAT, 'used', '15000');
    expect(chat).toMatchObject({ ...left, fits: true });
    const answer = await called(CHAT, 'used');
    expect(await harness.heldBy(answer)).toBe(chat.hold_microusd);
    expect(answer.headers.get('x-gateway-output-cap')).toBe(String(chat.output_cap));
    expect((await called(SPEECH, 'tight', '1000')).status).toBe(200);
    const none = await quoted(SPEECH, 'tight');
    expect(none).toMatchObject({ fits: false, available_microusd: '400' });
    expect(none.error).toEqual(errorOf(await called(SPEECH, 'tight')));
  });

  it('is the 409 of the call where it names another limit than the run has', async () => {
    await called(SPEECH, 'set', '5000');
    for (const limit of ['4999', '5001']) {
      const { object, ...rest } = await quoted(SPEECH, 'set', limit);
      expect([object, rest]).toEqual([
        'quote',
        { error: errorOf(await called(SPEECH, 'set', limit)) },
      ]);
    }
    await called(SPEECH, 'free');
    const quote = await quoted(SPEECH, 'free', '5000');
    expect(quote.error).toMatchObject({ code: 'conflict', param: 'x-gateway-run-limit-microusd' });
    expect(await quoted(SPEECH, 'free')).toMatchObject({ fits: true });
  });

  it('is refused with 400 for a header that is malformed, as the call is', async () => {
    const long = { ...harness.account, headers: headersOf('x'.repeat(129)) };
    expect(errorOf(await harness.ask(SPEECH, long))).toMatchObject({ param: 'x-gateway-run' });
    const limit = { ...harness.account.headers, 'x-gateway-run-limit-microusd': '5' };
    const answer = await harness.ask(SPEECH, { ...harness.account, headers: limit });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ param: 'x-gateway-run-limit-microusd' });
  });
});

describe('a quote of a request that is not served', () => {
  const answerOf = ({ path, body, method = 'POST' }: TestRequest): Promise<Answer> =>
    send(`${harness.gateway.url}${path}`, {
      method,
      headers: { ...harness.account.headers, 'content-type': 'application/json' },
      ...(method === 'POST' && { body: JSON.stringify(body ?? {}) }),
    });

  it.each<TestRequest>([
    { path: '/v1/nothing' },
    { path: '/v1/text-to-speech' },
    { path: '/audio/speech' },
    { path: '/v1/v1/audio/speech' },
    { path: '/v1//audio/speech' },
    { path: '/v1' },
    { path: '/v1/chat/completions', method: 'GET' },
    { path: '/v1/audio/speech', method: 'DELETE' },
    { path: '/v1/models' },
  ])('is the error of the request itself, with its hint: %j', async (request) => {
    const { error } = await harness.quote(request);
    expect(error).toEqual(errorOf(await answerOf(request)));
  });

  it('is 404 where the request costs nothing', async () => {
    const { error } = await harness.quote({ path: '/v1/models', method: 'GET' });
    expect(error).toMatchObject({ code: 'not_found' });
    expect(error?.message).toContain('costs nothing');
  });
});
