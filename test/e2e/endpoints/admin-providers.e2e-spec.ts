import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { HOUR_MS } from '../../../src/common/time/spans.js';
import { ADMIN_TOKEN } from '../../support/gateway.js';
import { errorOf, send } from '../../support/http-answer.js';
import { RouteHarness } from '../../support/route-harness.js';

let harness: RouteHarness;
beforeAll(async () => {
  harness = await RouteHarness.start();
});
afterAll(() => harness.stop());
afterEach(async () => {
  for (const path of ['elevenlabs/pause', 'elevenlabs/m/pause'])
    expect((await ask('DELETE', path)).status).toBe(200);
  harness.works(harness.first);
});

const ask = (method: string, path: string, body?: object) =>
  send(`${harness.gateway.url}/admin/providers/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
const pause = async (path: string, more: object = {}) => {
  const answer = await ask('POST', `${path}/pause`, { reason: 'they fail', ...more });
  expect(answer.status).toBe(200);
  return answer.json;
};
interface Shown {
  readonly id: string;
  readonly routes: { readonly upstream_model: string }[];
}
const shown = async (id: string) => {
  const { data } = (await ask('GET', '')).json as { data: Shown[] };
  return data.find((provider) => provider.id === id);
};
const routeOf = async (provider: string, name: string) =>
  (await shown(provider))?.routes.find(({ upstream_model: own }) => own === name);

describe('the providers of an operator', () => {
  it('show attempts, errors by kind, latencies, keys by the name of their variable, and what today cost', async () => {
    await harness.speak({ model: 'aud-v3' });
    harness.fails(harness.first, 429);
    await harness.speak({ model: 'aud-v3' });
    const provider = await shown('elevenlabs');
    expect(provider).toMatchObject({
      object: 'provider',
      protocol: 'elevenlabs',
      served_by: 'provider',
      keys: { variable: 'ELEVENLABS_API_KEY', count: 1 },
      errors: { rate_limited: 1 },
      attempts: 2,
      latency_p50_ms: expect.any(Number),
      latency_p99_ms: expect.any(Number),
      calls_today: 2,
      charged_today_microusd: '600',
      paused: null,
    });
    expect(await routeOf('elevenlabs', 'm')).toMatchObject({
      models: expect.arrayContaining(['aud-v3', 'aud-v4']),
      attempts: 2,
      errors: { rate_limited: 1 },
      operations: expect.arrayContaining([
        { operation: 'speech', breaker: 'closed', open_in_processes: 0 },
      ]),
    });
    expect(JSON.stringify((await ask('GET', '')).json)).not.toContain('backup-provider-key');
    expect(await shown('gemini')).toMatchObject({ served_by: null, keys: { count: null } });
  });

  it('get no new calls on a paused route: the next route of the model has them', async () => {
    expect(await pause('elevenlabs/m')).toMatchObject({
      object: 'route',
      provider: 'elevenlabs',
      upstream_model: 'm',
      paused: { reason: 'they fail', paused_by: expect.stringMatching(/^[0-9a-f]{12}$/) },
    });
    const { result, calls } = await harness.spending(() => harness.speak());
    expect({ status: result.status, calls }).toEqual({ status: 200, calls: [0, 1] });
    expect(await routeOf('elevenlabs', 'm')).toMatchObject({
      paused: { reason: 'they fail' },
    });
    await ask('DELETE', 'elevenlabs/m/pause');
    const after = await harness.spending(() => harness.speak());
    expect(after.calls).toEqual([1, 0]);
  });

  it('answer 503 before any hold where every route of a model is paused', async () => {
    const { charged_today_microusd: before } = (await shown('elevenlabs')) as never;
    await pause('elevenlabs');
    const { result, calls, spent } = await harness.spending(() =>
      harness.speak({ model: 'aud-v3' }),
    );
    expect(errorOf(result)).toMatchObject({ code: 'provider_unavailable' });
    expect({ status: result.status, calls, spent }).toEqual({
      status: 503,
      calls: [0, 0],
      spent: 0n,
    });
    const seconds = Number(result.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    const id = result.headers.get('x-gateway-execution-id') ?? '';
    const record = await send(`${harness.gateway.url}/admin/executions/${id}`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    expect(record.status).toBe(404);
    expect(await shown('elevenlabs')).toMatchObject({ charged_today_microusd: before });
  });

  it('get work again when the pause is over', async () => {
    await pause('elevenlabs/m', { expires_at: Math.floor(Date.now() / 1000) + 7_200 });
    expect((await harness.speak({ model: 'aud-v3' })).status).toBe(503);
    harness.advance(3 * HOUR_MS);
    expect((await harness.speak({ model: 'aud-v3' })).status).toBe(200);
    harness.advance(-3 * HOUR_MS);
  });

  it('are probed with a request that costs nothing, which changes nothing', async () => {
    const { attempts } = (await shown('elevenlabs')) as never;
    harness.first.reply = (response) => response.end('[]');
    expect((await ask('POST', 'elevenlabs/m/probe')).json).toMatchObject({
      object: 'probe',
      provider: 'elevenlabs',
      upstream_model: 'm',
      ok: true,
      outcome: 'success',
      knows_model: null,
    });
    expect(harness.first.seen.at(-1)).toMatchObject({ method: 'GET', url: '/v1/models' });
    harness.fails(harness.first, 401);
    const refused = await ask('POST', 'elevenlabs/probe');
    expect({ status: refused.status, json: refused.json }).toMatchObject({
      status: 200,
      json: { ok: false, outcome: 'account', status: 401, upstream_model: null },
    });
    expect(await shown('elevenlabs')).toMatchObject({ attempts });
    expect((await ask('POST', 'gemini/probe')).status).toBe(409);
  });

  it('refuse routes that no model has, and pauses without a reason or a near end', async () => {
    expect((await ask('POST', 'nobody/pause', { reason: 'x' })).status).toBe(404);
    expect((await ask('POST', 'elevenlabs/nothing/pause', { reason: 'x' })).status).toBe(404);
    expect((await ask('POST', 'elevenlabs/nothing/probe')).status).toBe(404);
    expect((await ask('DELETE', 'elevenlabs/nothing/pause')).status).toBe(404);
    const missing = await ask('POST', 'elevenlabs/pause', {});
    expect(errorOf(missing)).toMatchObject({ code: 'invalid_request', param: 'reason' });
    for (const expires_at of [1, Math.floor(Date.now() / 1000) + 31 * 86_400]) {
      const far = await ask('POST', 'elevenlabs/pause', { reason: 'x', expires_at });
      expect(errorOf(far)).toMatchObject({ code: 'invalid_request', param: 'expires_at' });
    }
  });

  it('take names with a slash, and record who paused what', async () => {
    const path = `ttapi/${encodeURIComponent('suno/music')}`;
    expect(await pause(path)).toMatchObject({ provider: 'ttapi', upstream_model: 'suno/music' });
    expect((await ask('DELETE', `${path}/pause`)).json).toMatchObject({ paused: null });
    const actions = await send(
      `${harness.gateway.url}/admin/operator-actions?target=${encodeURIComponent('ttapi/suno/music')}`,
      { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } },
    );
    expect(actions.json).toMatchObject({
      data: [{ action: 'route:resume' }, { action: 'route:pause', outcome: 'done' }],
    });
  });
});
