import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../src/common/errors/gateway-error.js';
import { Clock } from '../../src/common/time/clock.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import type { AttemptObservation } from '../../src/providers/routing/attempt-metrics.js';
import { ProviderRegistry } from '../../src/providers/routing/provider-registry.js';
import type { AttemptOwner } from '../../src/providers/ports/attempt.js';
import { ProviderRouter } from '../../src/providers/routing/provider-router.js';
import { AUDIO_SAMPLES } from './audio-samples.js';
import { StubUpstream } from '../support/stub-upstream.js';

class HandClock extends Clock {
  ms = 1_000_000;
  nowMs(): number {
    return this.ms;
  }
}

const FIRST = { provider: 'first', upstreamModel: 'model-a' };
const SECOND = { provider: 'second', upstreamModel: 'model-b' };
const BOTH = [FIRST, SECOND];

describe('ProviderRouter', () => {
  let first: StubUpstream;
  let second: StubUpstream;
  let clock: HandClock;
  let registry: ProviderRegistry;
  let router: ProviderRouter;
  let attempts: AttemptObservation[];
  let states: string[];

  beforeEach(async () => {
    [first, second] = await Promise.all([StubUpstream.start(), StubUpstream.start()]);
    const provider = (id: string, stub: StubUpstream) => {
      return { id, protocol: 'elevenlabs', baseUrl: stub.url, apiKey: 'k' } as const;
    };
    clock = new HandClock();
    const providers = [provider('first', first), provider('second', second)];
    registry = new ProviderRegistry({ providers, upstreamTimeoutMs: 500 }, clock);
    attempts = [];
    states = [];
    router = new ProviderRouter(registry, clock, {
      attempted: (attempt) => attempts.push(attempt),
      breakerChanged: ({ provider: id, state }) => states.push(`${id} ${state}`),
    });
    second.reply = (response) => response.end(AUDIO_SAMPLES.mp3);
  });
  afterEach(async () => {
    await registry.onModuleDestroy();
    await Promise.all([first.stop(), second.stop()]);
  });

  const begin = (
    routes = BOTH,
    signal = new AbortController().signal,
    watcher?: Partial<AttemptOwner>,
  ) => {
    const command = { text: 'Hi', voiceId: 'v', format: 'mp3' } as const;
    return router.run(routes, 'speech', (port, context) => port.speak(command, context), {
      signal,
      accountId: null,
      ...watcher,
    });
  };
  const speak = async (...how: Parameters<typeof begin>): Promise<string> => {
    const { provider, result } = await begin(...how);
    await readBounded(result.body, 1_000_000);
    return provider;
  };
  const code = async (call: Promise<unknown>): Promise<string> => {
    const error: unknown = await call.catch((reason: unknown) => reason);
    return error instanceof GatewayError ? error.code : String(error);
  };
  const answer = (status: number, body = '') => {
    first.reply = (response) => response.writeHead(status).end(body);
  };

  it('registers the operations of each provider', () => {
    expect(registry.canRun(FIRST, 'speech')).toBe(true);
    expect(registry.canRun(FIRST, 'chat')).toBe(false);
    expect(registry.canRun({ provider: 'third', upstreamModel: 'm' }, 'speech')).toBe(false);
    expect(registry.baseUrlOf('second')).toBe(second.url);
  });

  it('uses the first route that is configured', async () => {
    first.reply = (response) => response.end(AUDIO_SAMPLES.mp3);
    expect(await speak([{ provider: 'third', upstreamModel: 'm' }, FIRST, SECOND])).toBe('first');
    expect(JSON.parse(first.only.body.toString())).toMatchObject({ model_id: 'model-a' });
    expect(second.seen).toHaveLength(0);
  });

  it('tries the next route when the call gets no connection to the first', async () => {
    const tried: string[] = [];
    const watcher = {
      mayConnect: (provider: string) => provider === 'second',
      onAttempt: ({ provider }: { readonly provider: string }) => tried.push(provider),
    };
    expect(await speak(BOTH, undefined, watcher)).toBe('second');
    expect([tried, first.seen.length, states]).toEqual([['second'], 0, []]);
  });

  it('refuses without a configured route', async () => {
    expect(await code(speak([]))).toBe('no_eligible_route');
  });

  it.each([429, 503, 401, 404])('tries the next route after %d', async (status) => {
    answer(status);
    expect(await speak()).toBe('second');
    expect([first.seen, second.seen].map((seen) => seen.length)).toEqual([1, 1]);
  });

  it('tries the next route when the first cannot be reached', async () => {
    await first.stop();
    expect(await speak()).toBe('second');
    first = await StubUpstream.start();
  });

  it.each([
    [400, 'provider_rejected_request'],
    [500, 'provider_http_error'],
    [504, 'provider_timeout'],
    [200, 'provider_http_error'],
  ])('answers %d at once as %s, since the work may have been done', async (status, expected) => {
    answer(status);
    expect(await code(speak())).toBe(expected);
    expect(second.seen).toHaveLength(0);
  });

  it('answers with the failure of the last route', async () => {
    answer(503);
    second.reply = (response) => response.writeHead(429, { 'retry-after': '9' }).end();
    await expect(speak()).rejects.toMatchObject({
      code: 'provider_rate_limited',
      retryAfterSeconds: 9,
      cause: expect.any(ProviderError) as unknown,
    });
  });

  it('opens the breaker of a failing route, reports it, and lets one call through after 10 s', async () => {
    answer(500);
    for (let count = 0; count < 10; count += 1) await code(speak([FIRST]));
    expect(await code(speak([FIRST]))).toBe('provider_unavailable');
    expect(first.seen).toHaveLength(10);
    expect(await speak()).toBe('second');

    clock.ms += 10_000;
    first.reply = (response) => response.end(AUDIO_SAMPLES.mp3);
    expect(await speak([FIRST])).toBe('first');
    expect(states).toEqual(['first open', 'first half_open', 'first closed']);
  });

  it('lets the next call test a route when the client of a testing attempt disconnects', async () => {
    answer(500);
    for (let count = 0; count < 10; count += 1) await code(speak([FIRST]));
    clock.ms += 10_000;
    first.reply = (response) => response.write(AUDIO_SAMPLES.mp3);
    const { body } = (await begin([FIRST])).result;
    await once(body.destroy(), 'close');
    first.reply = (response) => response.end(AUDIO_SAMPLES.mp3);
    expect(await speak([FIRST])).toBe('first');
    expect(states.slice(1)).toEqual([
      'first half_open',
      'first open',
      'first half_open',
      'first closed',
    ]);
  });

  it('neither tells the breaker of an unguarded attempt nor asks it', async () => {
    answer(500);
    const besides = () => code(speak([FIRST], undefined, { isUnguarded: true }));
    for (let count = 0; count < 25; count += 1) expect(await besides()).toBe('provider_http_error');
    expect([first.seen.length, states]).toEqual([25, []]);
    expect(attempts).toHaveLength(25);
    for (let count = 0; count < 10; count += 1) await code(speak([FIRST]));
    expect(states).toEqual(['first open']);
    first.reply = (response) => response.end(AUDIO_SAMPLES.mp3);
    expect(await speak([FIRST], undefined, { isUnguarded: true })).toBe('first');
    expect(states).toEqual(['first open']);
    expect(await code(speak([FIRST]))).toBe('provider_unavailable');
  });

  it.each([400, 429, 422])('never opens on %d', async (status) => {
    answer(status);
    for (let count = 0; count < 25; count += 1) await code(speak([FIRST]));
    expect(first.seen).toHaveLength(25);
  });

  it('counts a body that breaks off as failure of the route', async () => {
    first.reply = (response) => {
      response.write(AUDIO_SAMPLES.mp3);
      setTimeout(() => response.destroy(), 5);
    };
    for (let count = 0; count < 10; count += 1) {
      await expect(speak([FIRST])).rejects.toBeInstanceOf(ProviderError);
    }
    expect(states).toEqual(['first open']);
  });

  it('rejects with the reason of an aborted signal and counts no failure of the provider', async () => {
    const controller = new AbortController();
    first.reply = () => {
      controller.abort(new Error('shutdown'));
    };
    await expect(speak(BOTH, controller.signal)).rejects.toThrow('shutdown');
    expect(second.seen).toHaveLength(0);
    expect(attempts).toMatchObject([
      { provider: 'first', operation: 'speech', outcome: 'aborted' },
    ]);
  });

  it('reports every call to observers', async () => {
    answer(503);
    await speak();
    expect(attempts).toMatchObject([
      { provider: 'first', operation: 'speech', outcome: 'unavailable' },
      { provider: 'second', operation: 'speech', outcome: 'success' },
    ]);
  });
});
