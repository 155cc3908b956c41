import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCommand } from '../../../test/support/chat-command.js';
import { StubUpstream } from '../../../test/support/stub-upstream.js';
import { SystemClock } from '../../common/time/clock.js';
import { HttpTransport } from '../http/http-transport.js';
import type { ChatCommand, ChatPort } from '../ports/chat.port.js';
import type { UpstreamTerms } from '../ports/attempt.js';
import { openAiPorts } from './openai-ports.js';

type Sent = Readonly<Record<string, unknown>>;

let stub: StubUpstream;
let transport: HttpTransport;
let chat: ChatPort;

beforeAll(() => {
  transport = new HttpTransport(10_000);
});
beforeEach(async () => {
  stub = await StubUpstream.start();
  const access = { id: 'acme', baseUrl: stub.url, apiKey: 'k', transport };
  const ports = openAiPorts({ ...access, clock: new SystemClock() });
  if (!ports.chat) throw new Error('the protocol has chat');
  chat = ports.chat;
});
afterEach(() => stub.stop());
afterAll(() => transport.close());

const choice = { index: 0, finish_reason: 'stop' };
const COMPLETION = JSON.stringify({ choices: [{ ...choice, message: { content: 'Hi' } }] });
const EVENTS = `data: ${JSON.stringify({ choices: [{ ...choice, delta: { content: 'Hi' } }] })}\n\ndata: [DONE]\n\n`;

/** The upstream refuses a request that has one of the fields, in these words. */
function refuses(
  fields: readonly string[],
  status: number,
  words: (field: string) => object | string,
): void {
  stub.reply = (response, { body }) => {
    const sent = JSON.parse(body.toString()) as Sent;
    const refused = fields.find((field) => field in sent);
    const said = refused === undefined ? undefined : words(refused);
    if (typeof said === 'string') {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(said);
    } else if (said !== undefined) response.writeHead(status).end(JSON.stringify(said));
    else if (sent.stream) response.end(EVENTS);
    else response.end(COMPLETION);
  };
}

const context = (terms?: UpstreamTerms, upstreamModel = 'm') => ({
  upstreamModel,
  terms,
  signal: new AbortController().signal,
});
const MESSAGES = [{ role: 'user', content: 'Hi' }];
const COMMAND = chatCommand({ messages: MESSAGES }, 9);
const complete = (command: Partial<ChatCommand> = {}, terms?: UpstreamTerms) =>
  chat.complete({ ...COMMAND, ...command }, context(terms));
async function stream(terms?: UpstreamTerms): Promise<number> {
  const { body } = await chat.stream(COMMAND, context(terms));
  const chunks: unknown[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return chunks.length;
}
/** The names of caps, and whether usage was asked for, request by request. */
const sent = () =>
  stub.seen.map(({ body }) => {
    const fields = JSON.parse(body.toString()) as Sent;
    const names = ['max_tokens', 'max_completion_tokens', 'num_predict', 'stream_options'];
    return names.filter((name) => name in fields).join(' ');
  });

const openAi = (field: string) => ({
  error: {
    message: `Unsupported parameter: '${field}' is not supported with this model. Use another instead.`,
    type: 'invalid_request_error',
    param: field,
    code: 'unsupported_parameter',
  },
});
const azure = (field: string) => ({
  error: { message: `Unrecognized request argument supplied: ${field}`, param: null, code: null },
});

it('the cap replaces a field of the caller with the name that the row uses for the cap', async () => {
  refuses([], 400, () => ({}));
  await complete({ native: { temperature: 2 } }, { outputCapParameter: 'temperature' });
  expect(JSON.parse(stub.only.body.toString())).toMatchObject({ temperature: 9 });
});

describe('the name of the cap', () => {
  beforeEach(() => {
    refuses([], 400, openAi);
  });

  it("is the row's, else the caller's, else max_tokens", async () => {
    await complete();
    await complete({ outputCapParameter: 'max_completion_tokens' });
    await complete(
      { outputCapParameter: 'max_tokens' },
      { outputCapParameter: 'max_completion_tokens' },
    );
    await complete({}, { outputCapParameter: 'num_predict' });
    expect(sent()).toEqual([
      'max_tokens',
      'max_completion_tokens',
      'max_completion_tokens',
      'num_predict',
    ]);
  });
});

describe('an upstream that refuses a parameter by name', () => {
  it.each([
    [400, openAi],
    [422, openAi],
    [400, azure],
  ])(
    'is sent the request once more with the other name of the cap, once for all: %d',
    async (status, words) => {
      refuses(['max_tokens'], status, words);
      await complete();
      await complete();
      expect(sent()).toEqual(['max_tokens', 'max_completion_tokens', 'max_completion_tokens']);
    },
  );

  it('is sent the older name if it supports no other', async () => {
    const terms = { outputCapParameter: 'max_completion_tokens' };
    refuses(['max_completion_tokens'], 400, azure);
    await complete({}, terms);
    await complete({}, terms);
    expect(sent()).toEqual(['max_completion_tokens', 'max_tokens', 'max_tokens']);
  });

  it('is sent the request again without stream_options', async () => {
    refuses(['stream_options'], 400, azure);
    expect(await stream()).toBe(1);
    expect(await stream()).toBe(1);
    expect(sent()).toEqual(['max_tokens stream_options', 'max_tokens', 'max_tokens']);
  });

  it('is sent the request again for each of two parameters', async () => {
    refuses(['stream_options', 'max_tokens'], 400, openAi);
    expect(await stream()).toBe(1);
    expect(sent().at(-1)).toBe('max_completion_tokens');
    expect(sent()).toHaveLength(3);
  });

  it('is not sent a third request if it rejects both names', async () => {
    refuses(['max_tokens', 'max_completion_tokens'], 400, openAi);
    await expect(complete()).rejects.toMatchObject({ kind: 'rejected' });
    expect(sent()).toEqual(['max_tokens', 'max_completion_tokens']);
  });

  it('is not remembered if the other form failed too', async () => {
    refuses(['max_tokens', 'max_completion_tokens'], 400, openAi);
    await expect(complete()).rejects.toMatchObject({ kind: 'rejected' });
    refuses([], 400, openAi);
    await complete();
    expect(sent().at(-1)).toBe('max_tokens');
  });

  it('is remembered for the model alone', async () => {
    refuses(['max_tokens'], 400, openAi);
    await complete();
    refuses([], 400, openAi);
    await chat.complete(COMMAND, context(undefined, 'other'));
    expect(sent().at(-1)).toBe('max_tokens');
  });
});

describe('the error of an upstream for a parameter that it does not support', () => {
  const plain = (message: string) => (field: string) => message.replaceAll('FIELD', field);
  it.each([
    "Unsupported parameter: 'FIELD' is not supported with this model. Use 'another' instead.",
    'Unrecognized request argument supplied: FIELD',
    'FIELD: Extra inputs are not permitted',
    "[{'type': 'extra_forbidden', 'loc': ('body', 'FIELD'), 'msg': 'Extra inputs are not permitted'}]",
    'Unknown name "FIELD": Cannot find field.',
    'This model does not support the parameter FIELD.',
    'FIELD is not supported',
    "Completions.create() got an unexpected keyword argument 'FIELD'",
  ])('is read as plain text and as JSON that is called plain text: %s', async (message) => {
    for (const words of [
      plain(message),
      (field: string) => JSON.stringify({ error: { message: plain(message)(field) } }),
    ]) {
      refuses(['max_tokens', 'stream_options'], 400, words);
      const model = `m${stub.seen.length}`;
      const { body } = await chat.stream(COMMAND, context(undefined, model));
      body.destroy();
      expect(sent().at(-1)).toBe('max_completion_tokens');
    }
    expect(sent()).toHaveLength(6);
  });

  it('is not read in a page of HTML', async () => {
    stub.reply = (response) =>
      response.writeHead(400, { 'content-type': 'text/html' }).end('unknown parameter: max_tokens');
    await expect(complete()).rejects.toMatchObject({ kind: 'rejected' });
    expect(stub.seen).toHaveLength(1);
  });
});

describe('no second request follows', () => {
  const refused = (message: string, status = 400) => {
    refuses(['max_tokens'], status, () => ({ error: { message, param: 'max_tokens' } }));
    return expect(complete()).rejects.toMatchObject({ upstreamStatus: status });
  };

  it.each([
    'max_tokens is too large: 9. This model supports at most 4 completion tokens.',
    'max_tokens must be less than or equal to 4',
    'Invalid max_tokens value, the valid range of max_tokens is [1, 4]',
    'Requests with max_tokens > 4 must have stream=true',
    'max_tokens must be ≤ 4',
    'The limit of max_tokens is 4 for this model',
    'max_tokens 参数超过上限',
    'max_tokens is invalid',
    'max_tokens is not allowed to be 9',
    'max_tokens is not supported above 4',
    'This model does not support max_tokens greater than 4',
    'This model does not support max_tokens = 9',
    "Unsupported value: 'max_tokens' does not support 9 with this model. Only the default (4) value is supported.",
    'max_tokens is only allowed when stream is enabled',
    'Could not finish the message because max_tokens or model output limit was reached.',
    'The prompt and max_tokens do not fit',
    'Value not allowed',
    'Input should be a valid integer',
  ])('where the value is refused: %s', async (message) => {
    await refused(message);
    expect(stub.seen).toHaveLength(1);
  });

  it.each([500, 429, 403])('after %d', async (status) => {
    await refused('max_tokens is unknown', status);
    expect(stub.seen).toHaveLength(1);
  });

  it('where another field is refused', async () => {
    refuses(['model'], 400, () => openAi('temperature'));
    await expect(complete()).rejects.toMatchObject({ kind: 'rejected' });
    expect(stub.seen).toHaveLength(1);
  });
});

describe('the terms of a row', () => {
  it('ask for no usage where stream_usage is false', async () => {
    refuses([], 400, openAi);
    expect(await stream({ streamUsage: false })).toBe(1);
    expect(sent()).toEqual(['max_tokens']);
  });

  it('drop, rename and add fields', async () => {
    refuses([], 400, openAi);
    const native = { messages: MESSAGES, seed: 7, user: 'u', temperature: 1, top_p: 0.5 };
    await complete(
      { native },
      {
        drop: ['user'],
        rename: { seed: 'random_seed', constructor: 'x' },
        constants: { temperature: 0, provider: { order: ['a'] } },
      },
    );
    expect(JSON.parse(stub.only.body.toString())).toEqual({
      model: 'm',
      messages: MESSAGES,
      max_tokens: 9,
      random_seed: 7,
      temperature: 0,
      top_p: 0.5,
      provider: { order: ['a'] },
    });
  });
});
