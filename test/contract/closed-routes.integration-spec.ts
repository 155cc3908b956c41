import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { Clock } from '../../src/common/time/clock.js';
import { ClosedRouteProbes } from '../../src/providers/routing/closed-route-probes.js';
import { ProviderRegistry } from '../../src/providers/routing/provider-registry.js';
import { ProviderRouter } from '../../src/providers/routing/provider-router.js';
import type { Scheduler } from '../../src/platform/scheduler/scheduler.js';
import { chatCommand } from '../support/chat-command.js';
import { StubUpstream } from '../support/stub-upstream.js';

const ROUTES = [{ provider: 'acme', upstreamModel: 'm' }];
const COMMAND = chatCommand({ messages: [{ role: 'user', content: 'Hi' }] }, 9);
const ANSWER = JSON.stringify({ choices: [{ index: 0, message: { content: 'Hi' } }] });
const FAILURES_TO_OPEN = 10;
const failing = (response: ServerResponse) => response.writeHead(500).end('{}');
const listed = (response: ServerResponse) => response.end('{"data":[{"id":"m"}]}');

/** Stands still until the test moves it. */
class StandingClock extends Clock {
  private ms = 1_700_000_000_000;

  nowMs(): number {
    return this.ms;
  }

  advance(ms: number): void {
    this.ms += ms;
  }
}

let stub: StubUpstream;
let clock: StandingClock;
let registry: ProviderRegistry;
let router: ProviderRouter;
let probes: ClosedRouteProbes;
let replies: Record<'chat' | 'models', (response: ServerResponse) => unknown>;

beforeAll(async () => {
  stub = await StubUpstream.start();
});
afterAll(async () => {
  await registry.onModuleDestroy();
  await stub.stop();
});
beforeEach(async () => {
  replies = { chat: failing, models: failing };
  stub.reply = (response, { url }) =>
    replies[url.endsWith('/models') ? 'models' : 'chat'](response);
  clock = new StandingClock();
  const provider = { id: 'acme', protocol: 'openai', baseUrl: stub.url, apiKey: 'key' } as const;
  registry = new ProviderRegistry({ providers: [provider], upstreamTimeoutMs: 5_000 }, clock);
  const watch = { attempted: () => undefined, breakerChanged: () => undefined };
  router = new ProviderRouter(registry, clock, watch);
  probes = new ClosedRouteProbes(registry, router, undefined as unknown as Scheduler);
  for (let count = 0; count < FAILURES_TO_OPEN; count += 1) await call().catch(() => undefined);
  stub.seen.length = 0;
});

const call = () => {
  const owner = { signal: new AbortController().signal, accountId: null };
  return router.run(ROUTES, 'chat', (port, context) => port.complete(COMMAND, context), owner);
};
const probe = () => probes.probeAll(new AbortController().signal);
const asked = () => stub.seen.map(({ url }) => (url.endsWith('/models') ? 'probe' : 'call'));
const calls = () => asked().filter((what) => what === 'call').length;
/** So many seconds, in which the providers with open breakers are probed every 3. */
async function pass(seconds: number): Promise<void> {
  for (let second = 3; second <= seconds; second += 3) {
    clock.advance(3_000);
    await probe();
  }
}

describe('a route whose breaker is open', () => {
  it('is tested by no call while probes of its provider fail, for a minute at most', async () => {
    await pass(57);
    await expect(call()).rejects.toMatchObject({ code: 'provider_unavailable' });
    expect(asked()).not.toContain('call');
    await pass(3);
    await expect(call()).rejects.toThrow();
    expect(asked().filter((what) => what === 'call')).toHaveLength(1);
  });

  it('is tested at once when a probe succeeds, by one call at a time', async () => {
    replies.models = listed;
    replies.chat = (response) => response.end(ANSWER);
    await expect(call()).rejects.toMatchObject({ code: 'provider_unavailable' });
    await pass(3);
    const [tested, other] = await Promise.allSettled([call(), call()]);
    expect(tested).toMatchObject({ value: { provider: 'acme' } });
    expect(other).toMatchObject({ reason: { code: 'provider_unavailable' } });
    expect(router.closedProviders).toEqual([]);
    await expect(call()).resolves.toMatchObject({ provider: 'acme' });
  });

  it('is tested at once after probes that failed, when one succeeds', async () => {
    await pass(12);
    await expect(call()).rejects.toMatchObject({ code: 'provider_unavailable' });
    replies.models = listed;
    replies.chat = (response) => response.end(ANSWER);
    await pass(3);
    await expect(call()).resolves.toMatchObject({ provider: 'acme' });
  });

  it('is not closed by probes that succeed, and tested early once only where calls fail', async () => {
    replies.models = listed;
    await pass(3);
    await call().catch(() => undefined);
    expect(calls()).toBe(1);
    for (const seconds of [3, 6, 9]) {
      await pass(3);
      await expect(call()).rejects.toMatchObject({ code: 'provider_unavailable' });
      expect([seconds, calls()]).toEqual([seconds, 1]);
    }
    await pass(3);
    await call().catch(() => undefined);
    expect(calls()).toBe(2);
  });

  it('is tested early again after it has worked', async () => {
    replies.models = listed;
    await pass(3);
    await call().catch(() => undefined);
    replies.chat = (response) => response.end(ANSWER);
    await pass(12);
    await call();
    replies.chat = failing;
    for (let count = 0; count < FAILURES_TO_OPEN; count += 1) await call().catch(() => undefined);
    replies.chat = (response) => response.end(ANSWER);
    await pass(3);
    await expect(call()).resolves.toMatchObject({ provider: 'acme' });
  });

  it('waits again where the probe after one that succeeded fails', async () => {
    replies.models = listed;
    await pass(3);
    replies.models = failing;
    await pass(3);
    await expect(call()).rejects.toMatchObject({ code: 'provider_unavailable' });
    expect(calls()).toBe(0);
  });

  it.each([401, 403, 404])(
    'is tested after ten seconds where the probe is refused: %i',
    async (status) => {
      replies.models = (response) => response.writeHead(status).end('{}');
      await pass(9);
      await call().catch(() => undefined);
      expect(calls()).toBe(0);
      await pass(3);
      await call().catch(() => undefined);
      expect(asked()).toContain('call');
    },
  );

  it('is tested after ten seconds where the probe is answered by no list', async () => {
    replies.models = (response) => response.end('{"hello":"there"}');
    await pass(9);
    await call().catch(() => undefined);
    expect(calls()).toBe(0);
    await pass(3);
    await call().catch(() => undefined);
    expect(asked()).toContain('call');
  });

  it('is not probed once it works', async () => {
    replies.chat = (response) => response.end(ANSWER);
    clock.advance(10_000);
    await call();
    stub.seen.length = 0;
    await probe();
    expect(asked()).toEqual([]);
  });
});
