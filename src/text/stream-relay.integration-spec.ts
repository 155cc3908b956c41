import { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { ClientLeft } from '../billing/calls/call-errors.js';
import { ProviderError } from '../providers/http/provider-error.js';
import { PartsEvent } from '../providers/ports/chat.port.js';
import { GeneratedTextBuffers } from './generated-text.js';
import { StreamRelay } from './stream-relay.js';

const CHUNKS = 20;

const cut = (): void => undefined;
const fault = (code: string) => new Error(code);
const textOf = () => new GeneratedTextBuffers().begin('account');

/** A piece of text that has its number beside it. */
class NumberedEvent extends PartsEvent {
  constructor(readonly index: number) {
    super([{ type: 'text', text: 'a' }], null);
  }
}
const chunkOf = (index: number) => new NumberedEvent(index);

/** A client, and the face through which it gets events. */
interface Client {
  isGone: boolean;
  readonly isClientGone?: boolean;
  cut(): void;
  send(event: NumberedEvent): Promise<void> | undefined;
}
const relayTo = (client: Client, generated = textOf()) => {
  const face = { forward: (event: unknown) => client.send(event as NumberedEvent) };
  const events = {
    get isGone() {
      return client.isGone;
    },
    get isClientGone() {
      return client.isClientGone ?? client.isGone;
    },
    cut: () => {
      client.cut();
    },
  };
  return new StreamRelay(events, face, generated);
};

it('sends every chunk in order, and none while the client still receives the previous one', async () => {
  const sent: number[] = [];
  let takes = 0;
  const send = async ({ index }: NumberedEvent): Promise<void> => {
    sent.push(index);
    takes += 1;
    expect(takes).toBe(1);
    await nextTurn();
    takes -= 1;
  };
  const source = Readable.from(Array.from({ length: CHUNKS }, (_, index) => chunkOf(index)));
  await relayTo({ send, cut, isGone: false }).run(source, fault);
  expect(sent).toEqual(Array.from({ length: CHUNKS }, (_, index) => index));
});

it.each([true, false])(
  'knows from its events whether the vendor speaks the protocol of the face: %s',
  async (isNative) => {
    const event = new PartsEvent([], null, isNative ? { object: 'chunk' } : null);
    const relay = relayTo({ send: () => undefined, cut, isGone: false });
    await relay.run(Readable.from([event, chunkOf(1)]), fault);
    expect(relay.isNative).toBe(isNative);
  },
);

it('reads no chunk from the provider while the client reads nothing', async () => {
  let generated = 0;
  const source = new Readable({
    objectMode: true,
    highWaterMark: 1,
    read() {
      generated += 1;
      this.push(chunkOf(generated));
    },
  });
  const events = { send: () => new Promise<void>(() => undefined), cut, isGone: false };
  const run = relayTo(events).run(source, fault);
  for (let turn = 0; turn < 50; turn += 1) await nextTurn();
  expect(generated).toBeLessThanOrEqual(3);
  source.destroy(new Error('cut'));
  await expect(run).rejects.toThrow('cut');
});

it('destroys the stream if a chunk cannot be sent', async () => {
  const source = Readable.from(Array.from({ length: CHUNKS }, (_, index) => chunkOf(index)));
  const send = (): undefined => {
    throw new Error('it cannot be sent');
  };
  const run = relayTo({ send, cut, isGone: false }).run(source, fault);
  await expect(run).rejects.toThrow('it cannot be sent');
  expect(source.destroyed).toBe(true);
});

it('writes no chunk to a disconnected client, and keeps all text for the charge', async () => {
  const events = {
    isGone: false,
    cut,
    sent: 0,
    send: (): undefined => {
      events.sent += 1;
      events.isGone = events.sent === 5;
    },
  };
  const source = Readable.from(Array.from({ length: CHUNKS }, (_, index) => chunkOf(index)));
  const generated = textOf();
  const relay = relayTo(events, generated);
  await relay.run(source, fault);
  expect([events.sent, generated.take().text]).toEqual([5, 'a'.repeat(CHUNKS)]);
});

it('counts chunks that waited for a disconnected client once', async () => {
  const events = { isGone: false, cut, send: () => new Promise<void>(() => undefined) };
  const source = new Readable({ objectMode: true, highWaterMark: 0, read: () => undefined });
  for (const index of [0, 1, 2]) source.push(chunkOf(index));
  const generated = textOf();
  const relay = relayTo(events, generated);
  const run = relay.run(source, fault);
  await nextTurn();
  events.isGone = true;
  relay.leave(() => source.destroy(new ClientLeft()));
  await run;
  expect(generated.take().text).toBe('aaa');
});

describe('a provider that disconnects while its chunks wait for the client', () => {
  const broken = new ProviderError('http_error', { provider: 'p', sent: true });
  /** A source with three chunks, of which the client has been reading the first for this long. */
  async function waitFor(ms: number) {
    const source = new Readable({ objectMode: true, highWaterMark: 0, read: () => undefined });
    for (const index of [0, 1, 2]) source.push(chunkOf(index));
    const events = {
      isGone: false,
      send: () => new Promise<void>(() => undefined),
      cut: () => (events.isGone = true),
    };
    const run = relayTo(events).run(source, fault);
    await sleep(ms);
    return { source, run, events };
  }

  it('disconnects a client for which it has waited 1 s; it is charged like a client that left', async () => {
    const { source, run, events } = await waitFor(1_050);
    source.destroy(broken);
    expect(await run).toBe(true);
    expect(events.isGone).toBe(true);
  });

  it('is an error if the client has read without delay for 3 s since', async () => {
    const source = new Readable({ objectMode: true, highWaterMark: 0, read: () => undefined });
    const waits = [sleep(1_050)];
    const events = { isGone: false, send: () => waits.pop(), cut: () => (events.isGone = true) };
    const run = relayTo(events).run(source, fault);
    for (const index of [0, 1]) source.push(chunkOf(index));
    await sleep(4_150);
    source.push(chunkOf(2));
    source.destroy(broken);
    await expect(run).rejects.toBe(broken);
    expect(events.isGone).toBe(false);
  });

  it('is an error for any other client', async () => {
    const { source, run, events } = await waitFor(100);
    source.destroy(broken);
    await expect(run).rejects.toBe(broken);
    expect(events.isGone).toBe(false);
  });

  it.each([
    ['the gateway that breaks off', new Error('shutdown')],
    [
      'the provider that says that it failed',
      new ProviderError('http_error', { provider: 'p', sent: true, upstreamStatus: 200 }),
    ],
    ['the provider that is silent', new ProviderError('timeout', { provider: 'p', sent: true })],
  ])('is an error even for a slow client if it is %s', async (_what, error) => {
    const { source, run, events } = await waitFor(1_050);
    source.destroy(error);
    await expect(run).rejects.toBe(error);
    expect(events.isGone).toBe(false);
  });
});

it.each([
  ['with an error', new Error('cut before')],
  ['without one', undefined],
])('rejects at once a stream that broke before, %s', async (_how, error) => {
  const source = new Readable({ objectMode: true }).on('error', () => undefined);
  source.destroy(error);
  await new Promise((resolve) => source.once('close', resolve));
  const events = { send: () => undefined, cut, isGone: false };
  const run = relayTo(events).run(source, fault);
  await expect(run).rejects.toThrow(error?.message ?? 'the stream of events ended early');
});

describe('a client that leaves', () => {
  const usage = { promptTokens: 3, completionTokens: 2, cachedTokens: null, reasoningTokens: null };
  const finish = new PartsEvent([{ type: 'finish', reason: 'stop' }], null);

  /** A stream from which its client has gone after these events, and what happens to it. */
  async function left(events: readonly PartsEvent[], waitMs: number) {
    const client = { send: () => undefined, cut, isGone: false };
    const source = new Readable({ objectMode: true, read: () => undefined });
    const relay = relayTo(client);
    const ended = relay.run(source, fault);
    for (const event of events) source.push(event);
    await nextTurn();
    client.isGone = true;
    relay.leave(() => source.destroy(new ClientLeft()), waitMs);
    return { source, relay, ended };
  }

  it.each([
    ['before the finish reason', [chunkOf(0)]],
    ['after the usage', [chunkOf(0), finish, new PartsEvent([], usage)]],
  ])('ends the work of the provider at once %s (G-24)', async (_when, events) => {
    const { source, ended } = await left(events, 60_000);
    expect(source.destroyed).toBe(true);
    expect(await ended).toBe(true);
  });

  it('after the finish reason is given the usage that comes in time, also over a report of zeros (G-24)', async () => {
    const zeros = new PartsEvent([], { ...usage, completionTokens: 0 });
    const { source, relay, ended } = await left([chunkOf(0), finish, zeros], 60_000);
    expect(source.destroyed).toBe(false);
    source.push(new PartsEvent([], usage));
    source.push(null);
    expect(await ended).toBe(true);
    expect(relay.usage).toEqual(usage);
  });

  it.each([
    ['no usage comes', undefined],
    ['the provider breaks', new Error('cut')],
  ])('after the finish reason pays what was made where %s (G-24)', async (_what, error) => {
    const { source, relay, ended } = await left([chunkOf(0), finish], 50);
    if (error) source.destroy(error);
    expect(await ended).toBe(true);
    expect([source.destroyed, relay.usage]).toEqual([true, null]);
  });
});
