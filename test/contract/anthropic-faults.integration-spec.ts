import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { anthropicPorts } from '../../src/providers/anthropic/anthropic-ports.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import type { ChatCommand, ChatEvent, ChatPort } from '../../src/providers/ports/chat.port.js';
import { StubUpstream } from '../support/stub-upstream.js';
import {
  MESSAGE_EVENTS,
  joinedParts,
  MESSAGE,
  MESSAGE_PARTS,
  native,
  neutral,
  STREAM,
  wireEvent,
} from './anthropic-wires.js';

const TIMEOUT_MS = 2_000;
const transport = new HttpTransport(TIMEOUT_MS);
let stub: StubUpstream;
let chat: ChatPort;
beforeEach(async () => {
  stub = await StubUpstream.start();
  const access = { id: 'acme', baseUrl: stub.url, apiKey: 'key', clock: new SystemClock() };
  chat = anthropicPorts({ ...access, transport }).chat!;
});
afterEach(() => stub.stop());
afterAll(() => transport.close());

const context = () => ({
  upstreamModel: 'some-model',
  signal: new AbortController().signal,
});

async function streamed(command: ChatCommand = neutral()): Promise<ChatEvent[]> {
  const { body } = await chat.stream(command, context());
  const events: ChatEvent[] = [];
  for await (const event of body) events.push(event as ChatEvent);
  return events;
}

async function failure(call: Promise<unknown>): Promise<ProviderError> {
  const error: unknown = await call.then(
    () => new Error('did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ProviderError)) throw error;
  expect(error.message + error.toGatewayError().message).not.toContain('secret');
  return error;
}

const answerStream = (body: string | Buffer): void => {
  stub.reply = (response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body);
};
const answerJson = (status: number, body: unknown, headers = {}): void => {
  stub.reply = (response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));
};
const errorBody = (type: string, message = 'secret words') => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
});

const LAST = MESSAGE_EVENTS.length - 1;
/** With the stop reason, before the last event. */
const TO_REASON = MESSAGE_EVENTS.slice(0, LAST).map(wireEvent).join('');

describe('a stream of Messages that breaks', () => {
  it.each(MESSAGE_EVENTS.slice(0, LAST - 1).map(({ type }, at) => [at + 1, type] as const))(
    'is cut where it ends after event %i (%s)',
    async (sent) => {
      for (const command of [neutral(), native()]) {
        answerStream(MESSAGE_EVENTS.slice(0, sent).map(wireEvent).join(''));
        expect(await failure(streamed(command))).toMatchObject({ kind: 'http_error', sent: true });
      }
    },
  );

  it('is whole at its last event, whatever the connection does then', async () => {
    stub.reply = (response) => {
      response.writeHead(200).write(STREAM);
      response.write('event: error\ndata: {"type":"error","error":{"type":"api_error"}}\n\n');
    };
    expect(joinedParts(await streamed())).toEqual(MESSAGE_PARTS);
  });

  it('ends no answer with [DONE] before its reason', async () => {
    answerStream(
      `${MESSAGE_EVENTS.slice(0, LAST - 1)
        .map(wireEvent)
        .join('')}data: [DONE]\n\n`,
    );
    expect(await failure(streamed())).toMatchObject({ kind: 'http_error' });
  });

  it.each<[string, StubUpstream['reply']]>([
    ['the body ends', (response) => response.end(TO_REASON)],
    ['the connection breaks', (response) => response.write(TO_REASON, () => response.destroy())],
    ['an error follows', (response) => response.end(`${TO_REASON}event: error\ndata: {}\n\n`)],
    ['nonsense follows', (response) => response.end(`${TO_REASON}data: nonsense\n\n`)],
    ['[DONE] follows', (response) => response.end(`${TO_REASON}data: [DONE]\n\n`)],
  ])('is whole with its reason, with an end of ours, where %s (G-24)', async (_what, reply) => {
    stub.reply = reply;
    expect(joinedParts(await streamed(neutral()))).toEqual(MESSAGE_PARTS);
    const natives = (await streamed(native())).map((event) => event.native);
    expect(natives.slice(-2)).toEqual([MESSAGE_EVENTS[LAST - 1], { type: 'message_stop' }]);
  });

  it('fails with a reason that is an error, streamed and whole (G-24)', async () => {
    const events = MESSAGE_EVENTS.map((event) =>
      event.type === 'message_delta' ? { ...event, delta: { stop_reason: 'error' } } : event,
    );
    answerStream(events.map(wireEvent).join(''));
    await failure(streamed());
    answerJson(200, { ...MESSAGE, stop_reason: 'error' });
    await failure(chat.complete(neutral(), context()));
  });

  it('waits 5 s for the last event after the reason, pings or not (G-24)', async () => {
    const PING_MS = 500;
    stub.reply = (response) => {
      response.write(TO_REASON);
      const pings = setInterval(() => response.write(wireEvent({ type: 'ping' })), PING_MS);
      response.once('close', () => {
        clearInterval(pings);
      });
    };
    const begin = performance.now();
    expect(joinedParts(await streamed())).toEqual(MESSAGE_PARTS);
    const waitedMs = performance.now() - begin;
    expect(waitedMs).toBeGreaterThan(4_900);
    expect(waitedMs).toBeLessThan(10_000);
  });

  it('has the usage that comes between its reason and its end (G-24)', async () => {
    const later = { type: 'message_delta', delta: {}, usage: { output_tokens: 91 } };
    answerStream(TO_REASON + wireEvent(later));
    const reports = (await streamed()).flatMap(({ usage }) => usage ?? []);
    expect(reports.at(-1)).toMatchObject({ completionTokens: 91 });
  });

  const [start, begin] = [wireEvent(MESSAGE_EVENTS[0]!), wireEvent(MESSAGE_EVENTS[1]!)];
  const tool = (index: number, fields: object) =>
    wireEvent({
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', input: {}, ...fields },
    } as { type: string });
  const calls = Array.from({ length: 1_025 }, (_, index) => {
    const stop = wireEvent({ type: 'content_block_stop', index } as { type: string });
    return tool(index, { id: `t${index}`, name: 'f' }) + stop;
  });
  it.each([
    ['begins with another event', begin],
    ['begins twice', start + start],
    ['opens a block twice', start + begin + begin],
    ['goes on with a block that is not open', start + wireEvent(MESSAGE_EVENTS[3]!)],
    ['calls a tool without an id', start + tool(0, { name: 'f' })],
    ['calls a tool without a name', start + tool(0, { id: 't' })],
    ['calls too many tools', start + calls.join('')],
    ['is no JSON', `${start}data: nonsense\n\n`],
    ['has an event that is too long', `${start}data: ${'x'.repeat(1_400_000)}\n\n`],
    ['has an event that nests too deep', `${start}data: ${'['.repeat(5_000)}\n\n`],
    ['has an event without a type', `${start}data: {}\n\n`],
    ['has pings only', wireEvent({ type: 'ping' }).repeat(3)],
  ])('is a failure where it %s', async (_what, wire) => {
    for (const command of [neutral(), native()]) {
      answerStream(wire + STREAM.toString().slice(STREAM.toString().indexOf('\n\n') + 2));
      expect(await failure(streamed(command))).toMatchObject({ kind: 'http_error' });
    }
  });

  it.each([
    ['overloaded_error', 'unavailable'],
    ['rate_limit_error', 'rate_limited'],
    ['api_error', 'http_error'],
    ['timeout_error', 'timeout'],
    ['invalid_request_error', 'rejected'],
    ['request_too_large', 'rejected'],
    ['authentication_error', 'account'],
    ['permission_error', 'account'],
    ['billing_error', 'account'],
    ['not_found_error', 'misconfigured'],
    ['some_new_error', 'http_error'],
  ])('fails with the kind of its error event: %s is %s', async (type, kind) => {
    for (const before of [0, 5]) {
      answerStream(
        MESSAGE_EVENTS.slice(0, before).map(wireEvent).join('') + wireEvent(errorBody(type)),
      );
      expect(await failure(streamed())).toMatchObject({ kind, sent: true });
    }
  });

  it('closes the connection of a reader that leaves', async () => {
    stub.reply = (response) => {
      response.writeHead(200).write(MESSAGE_EVENTS.slice(0, 5).map(wireEvent).join(''));
    };
    const { body } = await chat.stream(neutral(), context());
    body.destroy();
    await stub.untilAborted();
  });
});

describe('an error of Messages', () => {
  it.each<[number, string, string, string]>([
    [400, 'invalid_request_error', 'secret words', 'rejected'],
    [401, 'authentication_error', 'invalid x-api-key', 'account'],
    [402, 'billing_error', 'secret words', 'account'],
    [403, 'permission_error', 'secret words', 'account'],
    [404, 'not_found_error', 'model: secret-model', 'misconfigured'],
    [413, 'request_too_large', 'secret words', 'rejected'],
    [429, 'rate_limit_error', 'secret words', 'rate_limited'],
    [500, 'api_error', 'secret words', 'http_error'],
    [504, 'timeout_error', 'secret words', 'timeout'],
    [529, 'overloaded_error', 'Overloaded', 'unavailable'],
    [
      400,
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API.',
      'account',
    ],
  ])('%i %s (%s) is of the kind %s', async (status, type, message, kind) => {
    answerJson(status, errorBody(type, message), { 'retry-after': '9' });
    const error = await failure(chat.complete(neutral(), context()));
    expect(error).toMatchObject({ kind, upstreamStatus: status, retryAfterSeconds: 9 });
    expect(stub.seen).toHaveLength(1);
  });

  it.each([
    ['prompt is too long: 215032 tokens > 200000 maximum', 'context_length_exceeded'],
    [
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length',
      'context_length_exceeded',
    ],
    ['messages.0: "prompt is too long" is no block', 'invalid_request_error'],
  ])('tells a prompt that is too long from other refusals: %s', async (message, publicCode) => {
    answerJson(400, errorBody('invalid_request_error', message));
    const error = await failure(chat.complete(neutral(), context()));
    expect(error).toMatchObject({ kind: 'rejected', publicCode });
  });

  it.each<[string, object]>([
    ['an error in a 200', errorBody('overloaded_error')],
    ['no content', { ...MESSAGE, content: null }],
    ['a call without an id', { ...MESSAGE, content: [{ type: 'tool_use', name: 'f', input: {} }] }],
    ['another object', { ok: true }],
  ])('is what %s is', async (_what, body) => {
    answerJson(200, body);
    expect(await failure(chat.complete(native(), context()))).toHaveProperty('sent', true);
  });

  it('refuses a recording before it sends anything', async () => {
    const parts = [{ type: 'audio', data: 'AAAA', format: 'wav' }] as const;
    const command = neutral({ messages: [{ role: 'user', parts }] });
    for (const call of [chat.complete(command, context()), streamed(command)]) {
      const error = await failure(call);
      expect(error).toMatchObject({ kind: 'rejected', sent: false, safeToFailover: true });
      expect(error.toGatewayError().message).toContain('audio_not_supported');
    }
    expect(stub.seen).toEqual([]);
  });
});
