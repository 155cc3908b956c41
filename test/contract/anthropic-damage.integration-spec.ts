import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { anthropicPorts } from '../../src/providers/anthropic/anthropic-ports.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import type { ChatCommand, ChatEvent, ChatPort } from '../../src/providers/ports/chat.port.js';
import { damagedJson } from '../faults/fuzz/damage.js';
import { mutated, type Random, repeatableRandom } from '../media/fuzz.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { MESSAGE_EVENTS, MESSAGE, native, neutral, STREAM, wireEvent } from './anthropic-wires.js';

const SEED = 20_261_126;
const RUNS = 400;
const TIMEOUT_MS = 1_000;
const TEST_TIMEOUT_MS = 300_000;
const PIECE_BYTES = 64;

let stub: StubUpstream;
let transport: HttpTransport;
let chat: ChatPort;
beforeAll(async () => {
  stub = await StubUpstream.start();
  transport = new HttpTransport(TIMEOUT_MS);
  const access = { id: 'acme', baseUrl: stub.url, apiKey: 'key', clock: new SystemClock() };
  chat = anthropicPorts({ ...access, transport }).chat!;
});
afterAll(async () => {
  await transport.close();
  await stub.stop();
});

const context = () => ({ upstreamModel: 'some-model', signal: new AbortController().signal });

/** What became of a call: the events of a whole answer, or the kind of its failure. Throws any other error. */
async function fateOf(call: Promise<ChatEvent[]>): Promise<ChatEvent[] | string> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ProviderError) return error.kind;
    throw error;
  }
}

async function whole(command: ChatCommand): Promise<ChatEvent[]> {
  return [(await chat.complete(command, context())).answer];
}

async function streamed(command: ChatCommand): Promise<ChatEvent[]> {
  const { body } = await chat.stream(command, context());
  const events: ChatEvent[] = [];
  for await (const event of body) events.push(event as ChatEvent);
  return events;
}

/** Whether the parts are such as every face can tell: each call begins, ends and has an index of its own, one finish. */
function expectTellable(events: readonly ChatEvent[]): void {
  const parts = events.flatMap((event) => event.parts);
  expect(parts.filter(({ type }) => type === 'finish')).toHaveLength(1);
  const begun = parts.flatMap((part) => (part.type === 'tool-call' ? [part.index] : []));
  expect(begun).toEqual(begun.map((_, index) => index));
  for (const part of parts) {
    if (part.type === 'tool-arguments') expect(begun).toContain(part.index);
    if ('text' in part) expect(typeof part.text).toBe('string');
  }
  for (const { usage } of events) {
    const counts = usage ? [usage.promptTokens, usage.completionTokens] : [];
    expect(counts.every((count) => Number.isSafeInteger(count) && count >= 0)).toBe(true);
  }
}

function damagedStream(random: Random): Buffer {
  const events = MESSAGE_EVENTS.map((event) =>
    random(8) === 0
      ? `event: ${event.type}\ndata: ${damagedJson(event, random).toString()}\n\n`
      : wireEvent(event),
  );
  if (random(4) === 0) events.splice(random(events.length), 1 + random(3));
  if (random(4) === 0) events.splice(random(events.length), 0, events[random(events.length)] ?? '');
  const bytes = Buffer.from(events.join(''));
  return random(4) === 0 ? mutated(bytes, bytes, random) : bytes;
}

describe('damaged answers of Messages', () => {
  it(
    'are a whole answer that can be told, or a failure of the provider',
    async () => {
      const random = repeatableRandom(SEED);
      let wholes = 0;
      for (let run = 0; run < RUNS; run += 1) {
        const isStream = random(2) === 0;
        const body = isStream ? damagedStream(random) : damagedJson(MESSAGE, random);
        const isCut = random(6) === 0;
        stub.reply = (response) => {
          if (!isCut) response.end(body);
          else {
            response.writeHead(200, { 'content-length': body.length + 1 });
            response.write(body.subarray(0, random(body.length + 1)), () => response.destroy());
          }
        };
        const command = random(2) === 0 ? neutral() : native();
        const fate = await fateOf((isStream ? streamed : whole)(command));
        if (typeof fate === 'string') continue;
        wholes += 1;
        expectTellable(fate);
      }
      expect(wholes).toBeGreaterThan(RUNS / 20);
      expect(wholes).toBeLessThan(RUNS);
    },
    TEST_TIMEOUT_MS,
  );

  it('are read however small and slow their pieces are', async () => {
    stub.reply = async (response) => {
      for (let at = 0; at < STREAM.length; at += PIECE_BYTES) {
        response.write(STREAM.subarray(at, at + PIECE_BYTES));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      response.end();
    };
    expectTellable(await streamed(neutral()));
  });

  it('end at silence, and go on while anything arrives', async () => {
    stub.reply = (response) => {
      response.write(MESSAGE_EVENTS.slice(0, 5).map(wireEvent).join(''));
    };
    expect(await fateOf(streamed(neutral()))).toBe('timeout');
    const ping = wireEvent({ type: 'ping' });
    stub.reply = async (response) => {
      response.write(MESSAGE_EVENTS.slice(0, 5).map(wireEvent).join(''));
      for (let times = 0; times < 6; times += 1) {
        await new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS / 3));
        response.write(ping);
      }
      response.end(MESSAGE_EVENTS.slice(5).map(wireEvent).join(''));
    };
    expectTellable(await streamed(neutral()));
  });

  it('that never end are closed where the reader leaves', async () => {
    const text = wireEvent({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'more and more ' },
    } as { type: string });
    const before = stub.aborted;
    stub.reply = (response) => {
      const begin = { type: 'content_block_start', index: 0, content_block: { type: 'text' } };
      response.write(wireEvent(MESSAGE_EVENTS[0]!) + wireEvent(begin));
      const more = (): void => {
        if (response.destroyed) return;
        if (response.write(text.repeat(20))) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    };
    const { body } = await chat.stream(neutral(), context());
    const seen: unknown[] = [];
    for await (const event of body) if (seen.push(event) === 500) break;
    while (stub.aborted === before) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it.each<[string, () => string]>([
    [
      'a whole answer of 17 MB',
      () =>
        JSON.stringify({ ...MESSAGE, content: [{ type: 'text', text: 'x'.repeat(17_000_000) }] }),
    ],
    ['one that nests too deep', () => `{"content":${'['.repeat(1_000)}${']'.repeat(1_000)}}`],
    ['one of too many values', () => `{"content":[${'{},'.repeat(2_600_000)}{}]}`],
  ])('are failures: %s', async (_what, body) => {
    stub.reply = (response) => response.end(body());
    expect(await fateOf(whole(native()))).toBe('http_error');
  });

  it('keep no more thoughts in memory than a whole answer may have', async () => {
    const delta = wireEvent({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'thinking_delta', thinking: 'x'.repeat(1_000_000) },
    } as { type: string });
    stub.reply = (response) => {
      response.end(MESSAGE_EVENTS.slice(0, 2).map(wireEvent).join('') + delta.repeat(18));
    };
    expect(await fateOf(streamed(neutral()))).toBe('http_error');
  });
});
