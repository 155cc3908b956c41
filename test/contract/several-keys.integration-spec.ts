import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import type { GatewayError } from '../../src/common/errors/gateway-error.js';
import { SystemClock } from '../../src/common/time/clock.js';
import type { Route } from '../../src/providers/ports/attempt.js';
import type { KeyLimits } from '../../src/providers/routing/upstream-key.js';
import { ProviderRegistry } from '../../src/providers/routing/provider-registry.js';
import { ProviderRouter } from '../../src/providers/routing/provider-router.js';
import { chatCommand } from '../support/chat-command.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { until } from '../support/until.js';

const PROVIDER = { id: 'acme', protocol: 'openai' } as const;
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
  const provider = { ...PROVIDER, baseUrl: stub.url, apiKey: 'key-one, key-two,key-three' };
  const clock = new SystemClock();
  registry = new ProviderRegistry({ providers: [provider], upstreamTimeoutMs: 5_000 }, clock);
  const watch = { attempted: () => undefined, breakerChanged: () => undefined };
  router = new ProviderRouter(registry, clock, watch);
});

const call = (affinity?: string, routes: readonly Route[] = ROUTES) => {
  const signal = new AbortController().signal;
  const owner = { signal, accountId: null, affinity };
  return router.run(routes, 'chat', (port, context) => port.complete(COMMAND, context), owner);
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

  it('gives a key that rested to one call, though a job is asked for in vain with it meanwhile', async () => {
    replies['key-one'] = (response) => response.writeHead(429, { 'retry-after': '0' }).end('{}');
    await until(async () => {
      await call();
      return keys().includes('key-one');
    });
    let answerTrial = (): unknown => undefined;
    const begun = new Promise<void>((resolve) => {
      replies['key-one'] = (response) => {
        answerTrial = () => good(response);
        resolve();
      };
    });
    const calls: Promise<unknown>[] = [];
    for (let who: unknown; who !== 'trial';) {
      const next = call();
      calls.push(next);
      who = await Promise.race([begun.then(() => 'trial'), next]);
    }
    replies['key-one'] = refused(500);
    const [{ id: keyId } = { id: '' }] = registry.keysOf('acme');
    const followUp = { signal: new AbortController().signal, accountId: null, keyId };
    const asked = router.runOn(
      ROUTES[0]!,
      'chat',
      (port, context) => port.complete(COMMAND, context),
      { ...followUp, isFollowUp: true },
    );
    await expect(asked).rejects.toThrow();
    const tries = keys().filter((key) => key === 'key-one').length;
    for (let count = 0; count < 30; count += 1) await call();
    expect(keys().filter((key) => key === 'key-one')).toHaveLength(tries);
    answerTrial();
    await Promise.all(calls);
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
});

describe('limits of a key', () => {
  const limited = (keyLimits: KeyLimits, apiKey = 'key-one, key-two') => {
    registry.replace({ providers: [{ ...PROVIDER, apiKey, baseUrl: stub.url, keyLimits }] });
  };
  const countOf = (key: string) => keys().filter((own) => own === key).length;
  /** What comes of so many calls at once. */
  const outcomes = async (count: number) => {
    const calls = Array.from({ length: count }, () => call());
    const settled = await Promise.allSettled(calls);
    const refusals = settled.flatMap((one) =>
      one.status === 'rejected' ? [one.reason as GatewayError] : [],
    );
    return { accepted: count - refusals.length, refusals };
  };

  it('per minute are kept by parallel calls, which go on to the next key and are then refused', async () => {
    limited({ requestsPerMinute: 10 });
    const { accepted, refusals } = await outcomes(40);
    expect(accepted).toBe(20);
    expect([countOf('key-one'), countOf('key-two')]).toEqual([10, 10]);
    expect(new Set(refusals.map(({ code }) => code))).toEqual(new Set(['provider_rate_limited']));
    const waits = refusals.map(({ retryAfterSeconds = 0 }) => retryAfterSeconds);
    expect(Math.min(...waits)).toBeGreaterThan(50);
    expect(Math.max(...waits)).toBeLessThanOrEqual(60);
  });

  it('of one key hold where it is the only one', async () => {
    limited({ requestsPerMinute: 3 }, 'key-one');
    expect(await outcomes(5)).toMatchObject({ accepted: 3 });
    expect(keys()).toHaveLength(3);
  });

  it('in flight count each call until its answer has ended', async () => {
    limited({ concurrent: 2 });
    const waiting: ServerResponse[] = [];
    for (const key of ['key-one', 'key-two']) replies[key] = (response) => waiting.push(response);
    const first = Array.from({ length: 4 }, () => call());
    await until(() => waiting.length === 4);
    expect(await outcomes(3)).toMatchObject({ accepted: 0 });
    for (const response of waiting.splice(0)) good(response);
    await Promise.all(first);
    expect([countOf('key-one'), countOf('key-two')]).toEqual([2, 2]);
    replies = {};
    expect(await outcomes(4)).toMatchObject({ accepted: 4 });
  });

  it('count failures too, and free what is in flight', async () => {
    limited({ concurrent: 1 }, 'key-one');
    replies['key-one'] = refused(500);
    expect(await outcomes(1)).toMatchObject({ accepted: 0 });
    replies = {};
    expect(await outcomes(1)).toMatchObject({ accepted: 1 });
  });

  it('are passed over to the next route, as an exhausted provider is', async () => {
    const second = { ...PROVIDER, id: 'second', apiKey: 'key-of-second', baseUrl: stub.url };
    const first = { ...PROVIDER, apiKey: 'key-one', baseUrl: stub.url };
    registry.replace({ providers: [{ ...first, keyLimits: { requestsPerMinute: 1 } }, second] });
    for (let count = 0; count < 3; count += 1)
      await call(undefined, [...ROUTES, { provider: 'second', upstreamModel: 'm' }]);
    expect(keys()).toEqual(['key-one', 'key-of-second', 'key-of-second']);
  });

  it('do not begin anew where the catalog is read again, and may change there', async () => {
    limited({ requestsPerMinute: 2 }, 'key-one');
    await outcomes(2);
    limited({ requestsPerMinute: 2 }, 'key-one');
    expect(await outcomes(1)).toMatchObject({ accepted: 0 });
    limited({ requestsPerMinute: 3 }, 'key-two, key-one');
    expect(await outcomes(8)).toMatchObject({ accepted: 4 });
    expect([countOf('key-one'), countOf('key-two')]).toEqual([3, 3]);
  });
});

describe('what is told of keys', () => {
  it('is their numbers, why they were refused and how much they are used, never their texts', async () => {
    replies['key-two'] = refused(402);
    for (let count = 0; count < 30; count += 1) await call();
    const [told] = registry.configured();
    expect(told!.keys).toMatchObject([
      { name: 'key-1', refusedAs: null, running: 0 },
      { name: 'key-2', refusedAs: 'account', running: 0, lastMinute: 1 },
      { name: 'key-3', refusedAs: null, running: 0 },
    ]);
    const total = told!.keys!.reduce((sum, { lastMinute }) => sum + lastMinute, 0);
    expect(total).toBe(keys().length);
    expect(JSON.stringify(told)).not.toMatch(/key-(one|two|three)/);
  });

  it('counts every refusal of the last key against the route where all others are exhausted', async () => {
    for (const key of ['key-one', 'key-two', 'key-three']) replies[key] = refused(402);
    for (let count = 0; count < 10; count += 1) await call().catch(() => undefined);
    expect(router.closedProviders).toEqual(['acme']);
  });

  it('closes the route for all keys where the server fails', async () => {
    for (const key of ['key-one', 'key-two', 'key-three']) replies[key] = refused(500);
    for (let count = 0; count < 10; count += 1) await call().catch(() => undefined);
    expect(router.closedProviders).toEqual(['acme']);
    expect(registry.configured()[0]!.keys!.map(({ refusedAs }) => refusedAs)).toEqual([
      null,
      null,
      null,
    ]);
  });
});
