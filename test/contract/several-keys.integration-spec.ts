import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { SystemClock } from '../../src/common/time/clock.js';
import { ProviderRegistry } from '../../src/providers/routing/provider-registry.js';
import { ProviderRouter } from '../../src/providers/routing/provider-router.js';
import { chatCommand } from '../support/chat-command.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { until } from '../support/until.js';

const ROUTES = [{ provider: 'acme', upstreamModel: 'm' }];
const COMMAND = chatCommand({ messages: [{ role: 'user', content: 'Hi' }] }, 9);
const ANSWER = JSON.stringify({ choices: [{ index: 0, message: { content: 'Hi' } }] });
const good = (response: ServerResponse) => response.end(ANSWER);
const refused = (status: number) => (response: ServerResponse) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{}}');

let stub: StubUpstream;
let registry: ProviderRegistry;
let router: ProviderRouter;
/** How the provider answers each key. */
let replies: Record<string, (response: ServerResponse) => unknown>;

beforeAll(async () => {
  stub = await StubUpstream.start();
});
afterAll(async () => {
  await registry.onModuleDestroy();
  await stub.stop();
});
beforeEach(() => {
  stub.seen.length = 0;
  replies = {};
  stub.reply = (response, { headers }) => {
    const key = String(headers.authorization).replace('Bearer ', '');
    (replies[key] ?? good)(response);
  };
  const provider = {
    id: 'acme',
    protocol: 'openai',
    baseUrl: stub.url,
    apiKey: 'key-one, key-two,key-three',
  } as const;
  const clock = new SystemClock();
  registry = new ProviderRegistry({ providers: [provider], upstreamTimeoutMs: 5_000 }, clock);
  const watch = { attempted: () => undefined, breakerChanged: () => undefined };
  router = new ProviderRouter(registry, clock, watch);
});

const call = (affinity?: string) => {
  const signal = new AbortController().signal;
  const owner = { signal, accountId: null, affinity };
  return router.run(ROUTES, 'chat', (port, context) => port.complete(COMMAND, context), owner);
};
const keys = () => stub.seen.map(({ headers }) => String(headers.authorization).slice(7));

describe('a provider with several keys', () => {
  it('gets each key in turn of chance', async () => {
    for (let count = 0; count < 60; count += 1) await call();
    expect(new Set(keys())).toEqual(new Set(['key-one', 'key-two', 'key-three']));
  });

  it('gets the same key from calls with the same affinity', async () => {
    for (let count = 0; count < 10; count += 1) await call('account cache');
    expect(new Set(keys()).size).toBe(1);
  });

  it.each([429, 402, 401])(
    'is asked with the next key where one is refused with %i',
    async (status) => {
      await call('account cache');
      const [used = ''] = keys();
      replies[used] = refused(status);
      await call('account cache');
      expect(keys()).toHaveLength(3);
      expect(keys().at(-1)).not.toBe(used);
    },
  );

  it('leaves out a key for the time that its refusal names', async () => {
    replies['key-one'] = (response) => {
      response.writeHead(429, { 'retry-after': '30' }).end('{"error":{}}');
    };
    for (let count = 0; count < 40; count += 1) await call();
    expect(keys().filter((key) => key === 'key-one')).toHaveLength(1);
  });

  it('stays open while one key is accepted, however many calls the others refuse at once', async () => {
    replies['key-one'] = refused(401);
    replies['key-two'] = refused(402);
    await Promise.all(Array.from({ length: 60 }, () => call()));
    expect(router.closedProviders).toEqual([]);
    expect(keys().filter((key) => key === 'key-three')).toHaveLength(60);
  });

  it('stays open while a key without balance is the last and another is only at its rate', async () => {
    replies['key-one'] = refused(429);
    for (const key of ['key-two', 'key-three']) replies[key] = refused(402);
    for (let count = 0; count < 30; count += 1) await call().catch(() => undefined);
    expect(router.closedProviders).toEqual([]);
  });

  it('rests a key for as long as it says, though calls of before are still answered', async () => {
    const waiting: ServerResponse[] = [];
    replies['key-one'] = (response) => {
      if (waiting.length < 2) waiting.push(response);
      else response.writeHead(429, { 'retry-after': '30' }).end('{"error":{}}');
    };
    const early = Array.from({ length: 60 }, () => call());
    await until(() => keys().filter((key) => key === 'key-one').length > 2);
    for (const response of waiting) good(response);
    await Promise.all(early);
    const asked = keys().filter((key) => key === 'key-one').length;
    for (let count = 0; count < 30; count += 1) await call();
    expect(keys().filter((key) => key === 'key-one')).toHaveLength(asked);
  });

  it('is asked with every key once, and its last refusal is the answer', async () => {
    for (const key of ['key-one', 'key-two', 'key-three']) replies[key] = refused(429);
    await expect(call()).rejects.toMatchObject({ code: 'provider_rate_limited' });
    expect([...keys()].sort()).toEqual(['key-one', 'key-three', 'key-two']);
  });

  it.each([400, 500])('is asked with no further key after a %i', async (status) => {
    for (const key of ['key-one', 'key-two', 'key-three']) replies[key] = refused(status);
    await expect(call()).rejects.toThrow();
    expect(keys()).toHaveLength(1);
  });

  it('is asked about jobs with its first key', () => {
    const [route] = ROUTES;
    const [first] = registry.portsFor(route!, 'chat', 'a');
    const ports = registry.portsFor(route!, 'chat');
    expect(ports).toHaveLength(3);
    expect(ports).toContain(registry.portOf(route!, 'chat'));
    expect(ports).toContain(first);
  });
});
