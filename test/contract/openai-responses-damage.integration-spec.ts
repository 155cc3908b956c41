import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/common/json-object.js';
import { SystemClock } from '../../src/common/time/clock.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import { openAiPorts } from '../../src/providers/openai/openai-ports.js';
import type { ChatCommand, ChatEvent, ChatPort } from '../../src/providers/ports/chat.port.js';
import type { Conversation } from '../../src/providers/ports/conversation.js';
import { damagedJson } from '../faults/fuzz/damage.js';
import { mutated, type Random, repeatableRandom } from '../media/fuzz.js';
import { StubUpstream } from '../support/stub-upstream.js';
import {
  responseBytes,
  RESPONSE_EVENTS,
  RESPONSE,
  response,
  RESPONSE_TOKENS,
  RESPONSE_USAGE,
} from './openai-response-wires.js';

const SEED = 20_261_126;
const RUNS = 400;
const TIMEOUT_MS = 1_000;
const TEST_TIMEOUT_MS = 300_000;
const CONVERSATION: Conversation = {
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
  tools: [],
  settings: {},
};
const commandOf = (protocol: ChatCommand['protocol']): ChatCommand => ({
  protocol,
  native: { input: 'Hi' },
  maxTokens: 100,
  conversation: () => CONVERSATION,
});

let stub: StubUpstream;
let transport: HttpTransport;
let chat: ChatPort;
beforeAll(async () => {
  stub = await StubUpstream.start();
  transport = new HttpTransport(TIMEOUT_MS);
  const access = { id: 'acme', baseUrl: stub.url, apiKey: 'key', clock: new SystemClock() };
  chat = openAiPorts({ ...access, transport }).chat!;
});
afterAll(async () => {
  await transport.close();
  await stub.stop();
});

const context = (upstreamModel = 'm') => ({
  upstreamModel,
  upstreamProtocol: 'responses' as const,
  signal: new AbortController().signal,
});

/** What became of a call: the events of a whole answer, or the kind of its failure. Throws any other error. */
async function fateOf(call: Promise<ChatEvent[]>): Promise<ChatEvent[] | string> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ProviderError) return error.kind;
    throw error;
  }
}

async function whole(protocol: ChatCommand['protocol'] = 'chat'): Promise<ChatEvent[]> {
  return [(await chat.complete(commandOf(protocol), context())).answer];
}

async function streamed(protocol: ChatCommand['protocol'] = 'chat'): Promise<ChatEvent[]> {
  const { body } = await chat.stream(commandOf(protocol), context());
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
  expect(ended.toSorted((a, b) => a - b)).toEqual(begun);
  for (const part of parts) {
    if (part.type === 'tool-arguments') expect(typeof part.delta).toBe('string');
    if ('text' in part) expect(typeof part.text).toBe('string');
  }
}

function damagedStream(random: Random): Buffer {
  const events = RESPONSE_EVENTS.map((event) =>
    random(20) === 0 ? `data: ${damagedJson(event, random).toString()}\n\n` : wireOf(event),
  );
  if (random(4) === 0) events.splice(random(events.length), 1 + random(3));
  if (random(4) === 0) events.splice(random(events.length), 0, events[random(events.length)] ?? '');
  const bytes = Buffer.from(events.join(''));
  return random(4) === 0 ? mutated(bytes, bytes, random) : bytes;
}

const wireOf = (event: JsonObject): string => responseBytes([event]).toString();

describe('damaged answers of OpenAI responses', () => {
  it(
    'are a whole answer that can be told, or a failure of the provider',
    async () => {
      const random = repeatableRandom(SEED);
      let wholes = 0;
      for (let run = 0; run < RUNS; run += 1) {
        const isStream = random(2) === 0;
        const body = isStream ? damagedStream(random) : damagedJson(RESPONSE, random);
        const isCut = random(6) === 0;
        stub.reply = (answer) => {
          if (!isCut) answer.end(body);
          else {
            answer.writeHead(200, { 'content-length': body.length + 1 });
            answer.write(body.subarray(0, random(body.length + 1)), () => answer.destroy());
          }
        };
        const protocol = random(2) === 0 ? 'chat' : 'responses';
        const fate = await fateOf((isStream ? streamed : whole)(protocol));
        if (typeof fate === 'string') continue;
        wholes += 1;
        expectTellable(fate);
      }
      expect(wholes).toBeGreaterThan(RUNS / 20);
      expect(wholes).toBeLessThan(RUNS);
    },
    TEST_TIMEOUT_MS,
  );

  it('that are cut after any event but the last are failures (G-24)', async () => {
    for (let sent = 0; sent < RESPONSE_EVENTS.length; sent += 1) {
      stub.reply = (answer) => answer.end(responseBytes(RESPONSE_EVENTS.slice(0, sent)));
      expect(await fateOf(streamed())).toBe('http_error');
    }
    stub.reply = (answer) => answer.write(responseBytes(RESPONSE_EVENTS), () => answer.destroy());
    expectTellable(await streamed());
  });

  it.each<[string, JsonObject, string]>([
    [
      'an error event',
      { type: 'error', code: 'server_error', message: 'x', param: null, sequence_number: 3 },
      'http_error',
    ],
    [
      'a response that failed by the rate',
      failed({ code: 'rate_limit_exceeded', message: 'Rate limit reached for org-secret' }),
      'rate_limited',
    ],
    [
      'a response that failed by its prompt',
      failed({ code: 'invalid_prompt', message: 'Your prompt was flagged' }),
      'rejected',
    ],
    ['a response that failed', failed({ code: 'server_error', message: 'x' }), 'http_error'],
    ['a response that failed without a word', failed(null), 'http_error'],
    ['a piece of an item that is not there', delta({ output_index: 9 }), 'http_error'],
    ['a piece that is no text', delta({ delta: 5 }), 'http_error'],
    [
      'an item without a name',
      { type: 'response.output_item.added', output_index: 9, item: { type: 'function_call' } },
      'http_error',
    ],
    ['an end without items', { type: 'response.completed', response: {} }, 'http_error'],
  ])('that have %s in the stream are failures of that kind', async (_what, event, kind) => {
    for (const before of [2, 14]) {
      stub.reply = (answer) =>
        answer.end(responseBytes([...RESPONSE_EVENTS.slice(0, before), event]));
      expect(await fateOf(streamed())).toBe(kind);
    }
  });

  it('are told to their end where the cap or a filter ended them', async () => {
    for (const [reason, finish] of [
      ['max_output_tokens', 'length'],
      ['content_filter', 'content_filter'],
    ] as const) {
      const item = { ...(RESPONSE_EVENTS[17] as { item: JsonObject }).item, status: 'incomplete' };
      const cut = response({
        status: 'incomplete',
        incomplete_details: { reason },
        output: [(RESPONSE_EVENTS[10] as { item: JsonObject }).item, item],
        usage: RESPONSE_USAGE,
      });
      const end = { type: 'response.incomplete', response: cut };
      stub.reply = (answer) => answer.end(responseBytes([...RESPONSE_EVENTS.slice(0, 15), end]));
      const events = await streamed();
      expect(events.at(-1)).toMatchObject({
        parts: [{ type: 'finish', reason: finish }],
        usage: RESPONSE_TOKENS,
      });
    }
  });

  it('that have no pieces are told from their whole items', async () => {
    const events = RESPONSE_EVENTS.filter(({ type }) => !String(type).endsWith('.delta'));
    stub.reply = (answer) => answer.end(responseBytes(events));
    const streamedTexts = (await streamed()).flatMap(({ texts }) => texts);
    stub.reply = (answer) => answer.end(JSON.stringify(RESPONSE));
    expect(streamedTexts).toEqual((await whole()).flatMap(({ texts }) => texts));
  });

  it('report the cost of the last event as that of a whole answer', async () => {
    const figures: unknown[] = [];
    const completed = { ...RESPONSE, usage: { ...RESPONSE_USAGE, cost: 0.0125 } };
    const last = { type: 'response.completed', response: completed };
    stub.reply = (answer) => answer.end(responseBytes([...RESPONSE_EVENTS.slice(0, -1), last]));
    const { signal } = new AbortController();
    const owner = { signal, accountId: 'a', onFigures: (told: unknown) => figures.push(told) };
    const { body } = await chat.stream(commandOf('chat'), { ...context(), owner });
    await body.resume().toArray();
    expect(figures).toEqual([{ 'usage.cost': 0.0125 }]);
  });

  it('that refuse encrypted reasoning are asked once more without it, and later without it at once', async () => {
    const message = 'Encrypted content is not supported with this model.';
    const error = { message, type: 'invalid_request_error', param: 'include', code: null };
    const seen: unknown[] = [];
    stub.reply = (answer, request) => {
      const { include } = JSON.parse(request.body.toString()) as JsonObject;
      seen.push(include);
      if (include === undefined) answer.end(JSON.stringify(RESPONSE));
      else answer.writeHead(400).end(JSON.stringify({ error }));
    };
    await chat.complete(commandOf('chat'), context('plain'));
    await chat.complete(commandOf('chat'), context('plain'));
    expect(seen).toEqual([['reasoning.encrypted_content'], undefined, undefined]);
  });

  it.each<[string, () => string]>([
    ['a whole answer of 17 MB', () => JSON.stringify(response({ user: 'x'.repeat(17e6) }))],
    ['one that is not at its end', () => JSON.stringify(response({ status: 'queued' }))],
    ['one that failed', () => JSON.stringify({ ...failedResponse({ code: 'server_error' }) })],
    [
      'one of too many calls',
      () => {
        const call = { type: 'function_call', call_id: 'c', name: 'go', arguments: '{}' };
        return JSON.stringify(response({ output: Array(1_025).fill(call) }));
      },
    ],
  ])('are failures: %s', async (_what, body) => {
    stub.reply = (answer) => answer.end(body());
    expect(await fateOf(whole())).toBe('http_error');
  });
});

function failedResponse(error: object | null): JsonObject {
  return response({ status: 'failed', error });
}

function failed(error: object | null): JsonObject {
  return { type: 'response.failed', response: failedResponse(error) };
}

function delta(fields: object): JsonObject {
  return { type: 'response.output_text.delta', output_index: 0, delta: 'x', ...fields };
}
