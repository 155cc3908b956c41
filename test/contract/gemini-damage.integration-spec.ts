import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { geminiPorts } from '../../src/providers/gemini/gemini-ports.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import type { ChatEvent, ChatPort } from '../../src/providers/ports/chat.port.js';
import { damagedJson } from '../faults/fuzz/damage.js';
import { mutated, type Random, repeatableRandom } from '../media/fuzz.js';
import { foreignCommand } from '../support/chat-command.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { eventBytes, EVENTS, said, SIGNATURE, USAGE } from './gemini-wires.js';

const SEED = 20_261_126;
const RUNS = 400;
const TIMEOUT_MS = 1_000;
const TEST_TIMEOUT_MS = 300_000;
const PIECE_BYTES = 64;
const ANSWER = said({
  parts: [
    { text: 'I look.', thought: true },
    { text: 'Hé' },
    { functionCall: { id: 'f1', name: 'go', args: { a: [1] } }, thoughtSignature: SIGNATURE },
  ],
  finishReason: 'STOP',
  usage: USAGE,
});
const COMMAND = foreignCommand(
  {
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
    tools: [{ kind: 'custom', name: 'go' }],
    settings: {},
  },
  100,
);

let stub: StubUpstream;
let transport: HttpTransport;
let chat: ChatPort;
beforeAll(async () => {
  stub = await StubUpstream.start();
  transport = new HttpTransport(TIMEOUT_MS);
  const access = { id: 'acme', baseUrl: stub.url, apiKey: 'key', clock: new SystemClock() };
  chat = geminiPorts({ ...access, transport }).chat!;
});
afterAll(async () => {
  await transport.close();
  await stub.stop();
});

const context = () => ({ upstreamModel: 'm', signal: new AbortController().signal });

/** What became of a call: the events of a whole answer, or the kind of its failure. Throws any other error. */
async function fateOf(call: Promise<ChatEvent[]>): Promise<ChatEvent[] | string> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ProviderError) return error.kind;
    throw error;
  }
}

async function whole(): Promise<ChatEvent[]> {
  return [(await chat.complete(COMMAND, context())).answer];
}

async function streamed(): Promise<ChatEvent[]> {
  const { body } = await chat.stream(COMMAND, context());
  const events: ChatEvent[] = [];
  for await (const event of body) events.push(event as ChatEvent);
  return events;
}

/** Whether the parts are such as every face can tell: each call begins, ends and has an index of its own, one finish. */
function expectTellable(events: readonly ChatEvent[]): void {
  const parts = events.flatMap((event) => event.parts);
  expect(parts.filter(({ type }) => type === 'finish')).toHaveLength(1);
  expect(parts.at(-1)).toMatchObject({ type: 'finish' });
  const begun = parts.flatMap((part) => (part.type === 'tool-call' ? [part.index] : []));
  expect(begun).toEqual(begun.map((_, index) => index));
  const ended = parts.flatMap((part) => (part.type === 'tool-end' ? [part.index] : []));
  expect(ended).toEqual(begun);
  for (const part of parts) {
    if (part.type === 'tool-arguments') expect(typeof part.delta).toBe('string');
    if ('text' in part) expect(typeof part.text).toBe('string');
  }
  for (const { usage } of events) {
    const counts = usage ? [usage.promptTokens, usage.completionTokens] : [];
    expect(counts.every((count) => Number.isSafeInteger(count) && count >= 0)).toBe(true);
  }
}

function damagedStream(random: Random): Buffer {
  const events = EVENTS.map((event) =>
    random(8) === 0 ? `data: ${damagedJson(event, random).toString()}\r\n\r\n` : wireOf(event),
  );
  if (random(4) === 0) events.splice(random(events.length), 1 + random(3));
  if (random(4) === 0) events.splice(random(events.length), 0, events[random(events.length)] ?? '');
  const bytes = Buffer.from(events.join(''));
  return random(4) === 0 ? mutated(bytes, bytes, random) : bytes;
}

const wireOf = (event: object): string => eventBytes([event]).toString();

describe('damaged answers of Gemini', () => {
  it(
    'are a whole answer that can be told, or a failure of the provider',
    async () => {
      const random = repeatableRandom(SEED);
      let wholes = 0;
      for (let run = 0; run < RUNS; run += 1) {
        const isStream = random(2) === 0;
        const body = isStream ? damagedStream(random) : damagedJson(ANSWER, random);
        const isCut = random(6) === 0;
        stub.reply = (response) => {
          if (!isCut) response.end(body);
          else {
            response.writeHead(200, { 'content-length': body.length + 1 });
            response.write(body.subarray(0, random(body.length + 1)), () => response.destroy());
          }
        };
        const fate = await fateOf((isStream ? streamed : whole)());
        if (typeof fate === 'string') continue;
        wholes += 1;
        expectTellable(fate);
      }
      expect(wholes).toBeGreaterThan(RUNS / 20);
      expect(wholes).toBeLessThan(RUNS);
    },
    TEST_TIMEOUT_MS,
  );

  it('that are cut after any event but the last are failures', async () => {
    for (let sent = 0; sent < EVENTS.length; sent += 1) {
      stub.reply = (response) => response.end(eventBytes(EVENTS.slice(0, sent)));
      expect(await fateOf(streamed())).toBe('http_error');
    }
    stub.reply = (response) => response.write(eventBytes(EVENTS), () => response.destroy());
    expectTellable(await streamed());
  });

  it.each<[string, object, string]>([
    ['an error', { error: { code: 503, message: 'x', status: 'UNAVAILABLE' } }, 'unavailable'],
    ['a blocked prompt', { promptFeedback: { blockReason: 'SAFETY' } }, 'rejected'],
    ['a call without a name', said({ parts: [{ functionCall: { args: {} } }] }), 'http_error'],
  ])('that have %s in the stream are failures of that kind', async (_what, event, kind) => {
    for (const before of [0, 3]) {
      stub.reply = (response) => response.end(eventBytes([...EVENTS.slice(0, before), event]));
      expect(await fateOf(streamed())).toBe(kind);
    }
  });

  it('are told to their end where a filter ended them', async () => {
    const last = said({ parts: [], finishReason: 'SAFETY', usage: USAGE });
    stub.reply = (response) => response.end(eventBytes([...EVENTS.slice(0, 3), last]));
    const events = await streamed();
    expect(events.at(-1)!.parts).toEqual([{ type: 'finish', reason: 'content_filter' }]);
  });

  it('are failures where the model wrote nothing but a call that is none', async () => {
    const end = said({ parts: [], finishReason: 'MALFORMED_FUNCTION_CALL', usage: USAGE });
    stub.reply = (response) => response.end(eventBytes([end]));
    expect(await fateOf(streamed())).toBe('http_error');
  });

  it.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'])(
    'are whole, with the usage that is charged, where a call broke off after a text: %s (G-24)',
    async (finishReason) => {
      const end = said({ parts: [], finishReason, usage: USAGE });
      stub.reply = (response) => response.end(eventBytes([said({ parts: [{ text: 'Hi' }] }), end]));
      const events = await streamed();
      expect(events.flatMap(({ parts }) => parts)).toEqual([
        { type: 'text', text: 'Hi' },
        { type: 'finish', reason: 'stop' },
      ]);
      expect(events.at(-1)!.usage).not.toBeNull();
    },
  );

  it('say nothing after their end but the usage', async () => {
    const last = said({ parts: [{ text: 'x' }], finishReason: 'MAX_TOKENS' });
    const more = said({ parts: [{ text: 'more' }], finishReason: 'STOP', usage: USAGE });
    stub.reply = (response) => response.end(eventBytes([last, more]));
    const events = await streamed();
    expect(events.map(({ parts }) => parts)).toEqual([
      [
        { type: 'text', text: 'x' },
        { type: 'finish', reason: 'length' },
      ],
      [],
    ]);
    expect(events.at(-1)!.usage).toMatchObject({ promptTokens: 220 });
  });

  it('are read however small and slow their pieces are', async () => {
    const stream = eventBytes(EVENTS);
    stub.reply = async (response) => {
      for (let at = 0; at < stream.length; at += PIECE_BYTES) {
        response.write(stream.subarray(at, at + PIECE_BYTES));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      response.end();
    };
    expectTellable(await streamed());
  });

  it('end at silence', async () => {
    stub.reply = (response) => response.write(eventBytes(EVENTS.slice(0, 3)));
    expect(await fateOf(streamed())).toBe('timeout');
  });

  it('that never end are closed where the reader leaves', async () => {
    const text = wireOf(said({ parts: [{ text: 'more and more ' }] })).repeat(20);
    const before = stub.aborted;
    stub.reply = (response) => {
      const more = (): void => {
        if (response.destroyed) return;
        if (response.write(text)) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    };
    const { body } = await chat.stream(COMMAND, context());
    const seen: unknown[] = [];
    for await (const event of body) if (seen.push(event) === 500) break;
    while (stub.aborted === before) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it.each<[string, () => string]>([
    [
      'a whole answer of 17 MB',
      () => JSON.stringify(said({ parts: [{ text: 'x'.repeat(17e6) }] })),
    ],
    ['one that nests too deep', () => `{"candidates":${'['.repeat(1_000)}${']'.repeat(1_000)}}`],
    ['one of too many values', () => `{"candidates":[${'{},'.repeat(2_600_000)}{}]}`],
    [
      'one of too many calls',
      () => {
        const call = { functionCall: { name: 'go', args: {} } };
        return JSON.stringify(said({ parts: Array(1_025).fill(call), finishReason: 'STOP' }));
      },
    ],
  ])('are failures: %s', async (_what, body) => {
    stub.reply = (response) => response.end(body());
    expect(await fateOf(whole())).toBe('http_error');
  });
});
