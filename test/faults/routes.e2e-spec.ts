import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN } from '../support/gateway.js';
import { type Answer, errorOf, send } from '../support/http-answer.js';
import { REST_MS, RouteHarness } from '../support/route-harness.js';
import type { StubUpstream } from '../support/stub-upstream.js';

let harness: RouteHarness;
beforeAll(async () => {
  harness = await RouteHarness.start();
});
afterAll(() => harness.stop());

const failing = (status: number) => (stub: StubUpstream) => {
  harness.fails(stub, status);
};

const executionOf = async (answer: Answer) =>
  (
    await send(
      `${harness.gateway.url}/admin/executions/${answer.headers.get('x-gateway-execution-id') ?? ''}`,
      { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } },
    )
  ).json;

describe('a model with a second route', () => {
  /** Breakers closed, whatever the test before did. */
  beforeEach(async () => {
    harness.works(harness.first);
    harness.works(harness.backup);
    harness.advance(REST_MS);
    for (let good = 0; good < 2; good++) await harness.speak({ model: 'aud-v3' });
  });

  it.each([429, 503, 401, 402, 403, 404])(
    'is served there when the first answers %i and has done nothing',
    async (status) => {
      harness.fails(harness.first, status);
      const { result, calls, spent } = await harness.spending(() => harness.speak());
      expect(result.status).toBe(200);
      expect({ calls, spent }).toEqual({ calls: [1, 1], spent: 600n });
      expect(harness.backup.seen.at(-1)?.headers['xi-api-key']).toBe('backup-provider-key');
      expect(await executionOf(result)).toMatchObject({
        provider: 'backup',
        attempts: [
          { provider: 'elevenlabs', status, first_byte_ms: null },
          { provider: 'backup', outcome: 'success', status: null },
        ],
      });
    },
  );

  it('is served there when the first cannot be reached', async () => {
    const { result, calls, spent } = await harness.spending(() =>
      harness.speak({ model: 'aud-flash-v2.5' }),
    );
    expect(result.status).toBe(200);
    expect({ calls, spent }).toEqual({ calls: [1, 0], spent: 300n });
    expect(await executionOf(result)).toMatchObject({ provider: 'elevenlabs' });
  });

  it.each([
    ['500', 'provider_http_error', failing(500)],
    ['400', 'provider_rejected_request', failing(400)],
    ['504', 'provider_timeout', failing(504)],
    [
      'nothing',
      'provider_timeout',
      (stub: StubUpstream) => {
        stub.reply = () => undefined;
      },
    ],
    [
      'a web page',
      'provider_http_error',
      (stub: StubUpstream) => {
        stub.reply = (response) => response.end('<!doctype html>');
      },
    ],
    [
      'a cut connection',
      'provider_http_error',
      (stub: StubUpstream) => {
        stub.reply = (response) => response.destroy();
      },
    ],
  ])('is not asked for twice when the first answers %s', async (_what, code, spoil) => {
    spoil(harness.first);
    const { result, calls, spent } = await harness.spending(() => harness.speak());
    expect(errorOf(result).code).toBe(code);
    expect({ calls, spent }).toEqual({ calls: [1, 0], spent: 0n });
  });

  it('reports the rate limit when every route limits, with its Retry-After (SPEECH-13)', async () => {
    for (const stub of [harness.first, harness.backup]) {
      stub.reply = (response) => response.writeHead(429, { 'retry-after': '4' }).end('{}');
    }
    const { result, calls, spent } = await harness.spending(() => harness.speak());
    expect(errorOf(result).code).toBe('provider_rate_limited');
    expect(result.headers.get('retry-after')).toBe('4');
    expect({ calls, spent }).toEqual({ calls: [1, 1], spent: 0n });
  });

  it('is unavailable when every route is down (SPEECH-13, G-09)', async () => {
    harness.fails(harness.first, 503);
    harness.fails(harness.backup, 503);
    const both = await harness.spending(() => harness.speak());
    expect({ status: both.result.status, code: errorOf(both.result).code }).toEqual({
      status: 503,
      code: 'provider_unavailable',
    });
    expect({ calls: both.calls, spent: both.spent }).toEqual({ calls: [1, 1], spent: 0n });
    const none = await harness.spending(() => harness.speak({ model: 'aud-multilingual-v2' }));
    expect(errorOf(none.result).code).toBe('provider_unavailable');
    expect({ calls: none.calls, spent: none.spent }).toEqual({ calls: [0, 0], spent: 0n });
    const outcomesOf = async (answer: Answer) =>
      ((await executionOf(answer)) as { attempts: { outcome: string; status: number }[] }).attempts;
    const down = { outcome: 'unavailable', status: 503 };
    expect(await outcomesOf(both.result)).toMatchObject([down, down]);
    expect(await outcomesOf(none.result)).toMatchObject([{ outcome: 'unavailable', status: null }]);
  });
});
