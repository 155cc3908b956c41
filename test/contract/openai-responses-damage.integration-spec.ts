import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/common/json-object.js';
import { openAiPorts } from '../../src/providers/openai/openai-ports.js';
import { DamageDesk, fateOf } from './damage-desk.js';
import { responsesCommand } from './damaged-wires.js';
import {
  responseBytes,
  RESPONSE_EVENTS,
  RESPONSE,
  response,
  RESPONSE_TOKENS,
  RESPONSE_USAGE,
} from './openai-response-wires.js';

const COMMAND = responsesCommand('chat');

let desk: DamageDesk;
beforeAll(async () => {
  desk = await DamageDesk.start(openAiPorts, 'responses');
});
afterAll(() => desk.stop());

const streamed = () => desk.streamed(COMMAND);
const whole = () => desk.whole(COMMAND);

describe('damaged answers of Responses alone', () => {
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
      desk.answers(responseBytes([...RESPONSE_EVENTS.slice(0, before), event]));
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
      desk.answers(responseBytes([...RESPONSE_EVENTS.slice(0, 15), end]));
      const events = await streamed();
      expect(events.at(-1)).toMatchObject({
        parts: [{ type: 'finish', reason: finish }],
        usage: RESPONSE_TOKENS,
      });
    }
  });

  it('that have no pieces are told from their whole items', async () => {
    const events = RESPONSE_EVENTS.filter(({ type }) => !String(type).endsWith('.delta'));
    desk.answers(responseBytes(events));
    const streamedTexts = (await streamed()).flatMap(({ texts }) => texts);
    desk.answers(JSON.stringify(RESPONSE));
    expect(streamedTexts).toEqual((await whole()).flatMap(({ texts }) => texts));
  });

  it('report the cost of the last event as that of a whole answer', async () => {
    const figures: unknown[] = [];
    const completed = { ...RESPONSE, usage: { ...RESPONSE_USAGE, cost: 0.0125 } };
    const last = { type: 'response.completed', response: completed };
    desk.answers(responseBytes([...RESPONSE_EVENTS.slice(0, -1), last]));
    const { signal } = new AbortController();
    const owner = { signal, accountId: 'a', onFigures: (told: unknown) => figures.push(told) };
    const { body } = await desk.chat.stream(COMMAND, { ...desk.context(), owner });
    await body.resume().toArray();
    expect(figures).toEqual([{ 'usage.cost': 0.0125 }]);
  });

  it('that refuse encrypted reasoning are asked once more without it, and later without it at once', async () => {
    const message = 'Encrypted content is not supported with this model.';
    const error = { message, type: 'invalid_request_error', param: 'include', code: null };
    const seen: unknown[] = [];
    desk.stub.reply = (answer, request) => {
      const { include } = JSON.parse(request.body.toString()) as JsonObject;
      seen.push(include);
      if (include === undefined) answer.end(JSON.stringify(RESPONSE));
      else answer.writeHead(400).end(JSON.stringify({ error }));
    };
    await desk.chat.complete(COMMAND, desk.context('plain'));
    await desk.chat.complete(COMMAND, desk.context('plain'));
    expect(seen).toEqual([['reasoning.encrypted_content'], undefined, undefined]);
  });

  it.each<[string, () => string]>([
    ['one that is not at its end', () => JSON.stringify(response({ status: 'queued' }))],
    ['one that failed', () => JSON.stringify({ ...failedResponse({ code: 'server_error' }) })],
  ])('are failures: %s', async (_what, body) => {
    desk.answers(body());
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
