import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/common/json-object.js';
import { type Answer, postJson, send } from '../../support/http-answer.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

let gateway: GatewayFromOutside;
let headers: Record<string, string>;
let key: string;

beforeAll(async () => {
  gateway = await sharedGateway();
  ({ headers } = await gateway.account());
  key = String(headers.authorization).replace(/^Bearer /, '');
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const WEATHER = { name: 'get_weather', input_schema: { type: 'object' } };
const HELLO = [{ role: 'user', content: 'Say hello' }];
const asked = (...content: object[]) => [{ role: 'user', content }];
const PDF = {
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
};
const url = (path = '') => `${gateway.url}/v1/messages${path}`;
const post = (body: object, more: object = {}, by = headers): Promise<Answer> =>
  postJson(url(), { ...by, ...more }, { model: 'gen-5', max_tokens: 100, ...body });
const errorOf = ({ json }: Answer) => (json as { error: JsonObject }).error;

/** A message that is accepted. */
async function made(body: object): Promise<JsonObject> {
  const answer = await post(body);
  expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
  return answer.json as JsonObject;
}

/** What the provider got last. */
async function upstream(): Promise<JsonObject> {
  const [last] = await gateway.upstreamRequests();
  return last?.body as JsonObject;
}

function eventsOf({ bytes }: Answer): { name: string; data: JsonObject }[] {
  const events = bytes.toString().split('\n\n').filter(Boolean);
  return events.map((event) => {
    const [, name = '', data = '{}'] = /^event: (.*)\ndata: (.*)$/.exec(event) ?? [];
    return { name, data: JSON.parse(data) as JsonObject };
  });
}

describe('POST /v1/messages', () => {
  it('answers the whole object with its charge, for a key in x-api-key (G-17)', async () => {
    const answer = await post({ messages: HELLO, system: 'Be short' }, {}, { 'x-api-key': key });
    const message = answer.json as JsonObject;
    expect(message).toMatchObject({
      id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      type: 'message',
      role: 'assistant',
      model: 'gen-5',
      content: [{ type: 'text', text: 'hello', citations: null }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
    });
    const execution = await send(`${gateway.url}/v1/executions/${String(message.id)}`, { headers });
    expect(execution.json).toMatchObject({
      endpoint: '/v1/messages',
      charged_microusd: answer.headers.get('x-gateway-charge-microusd'),
    });
    expect((await upstream()).messages).toMatchObject([{ role: 'system' }, { role: 'user' }]);
  });

  it('tells a stream in the order that the stock reader demands, with the charge', async () => {
    const events = eventsOf(await post({ messages: HELLO, stream: true }));
    expect(events.every(({ name, data }) => name === data.type)).toBe(true);
    const names = events.map(({ name }) => name).filter((name) => name !== 'content_block_delta');
    expect(names).toEqual([
      'message_start',
      'content_block_start',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events.at(0)?.data).toMatchObject({
      message: { content: [], stop_reason: null, usage: { input_tokens: expect.any(Number) } },
    });
    expect(events.at(-2)?.data).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { cost_microusd: expect.any(Number), output_tokens: expect.any(Number) },
    });
  });

  it('calls a tool, and sends its result before the rest of the turn', async () => {
    const messages = [{ role: 'user', content: 'Use get_weather for Graz' }];
    const first = await made({ messages, tools: [WEATHER] });
    const [call] = first.content as JsonObject[];
    expect([first.stop_reason, call]).toMatchObject([
      'tool_use',
      { type: 'tool_use', name: 'get_weather', input: expect.any(Object) },
    ]);
    const result = { type: 'tool_result', tool_use_id: call?.id, content: 'sunny' };
    const turn = (content: object[]) => ({
      messages: [
        ...messages,
        { role: 'assistant', content: first.content },
        { role: 'user', content },
      ],
      tools: [WEATHER],
    });
    expect(JSON.stringify(await made(turn([result])))).toContain('sunny');
    await made(turn([{ type: 'text', text: 'Well?' }, result]));
    const roles = ((await upstream()).messages as JsonObject[]).map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'tool', 'user']);
  });

  it.each([
    ['messages', {}],
    ['messages.0.role', { messages: [{ role: 'tool', content: 'a' }] }],
    [
      'messages.0.content.1.source.type',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type: 'image', source: { type: 'file', file_id: 'f' } },
            ],
          },
        ],
      },
    ],
    ['messages.0.content.0.source.type', { messages: asked(PDF) }],
    [
      'messages.0.content.0.content.0.source.type',
      { messages: asked({ type: 'tool_result', tool_use_id: 'a', content: [PDF] }) },
    ],
    ['messages.0.content.0.type', { messages: [{ role: 'user', content: [{ type: 'video' }] }] }],
    [
      'tools.1.type',
      { messages: HELLO, tools: [WEATHER, { type: 'bash_20250124', name: 'bash' }] },
    ],
    ['tool_choice.name', { messages: HELLO, tool_choice: { type: 'tool', name: 'b' } }],
    [
      'thinking.budget_tokens',
      { messages: HELLO, thinking: { type: 'enabled', budget_tokens: 5_000 } },
    ],
    ['mcp_servers', { messages: HELLO, mcp_servers: [{ type: 'url' }] }],
    ['container', { messages: HELLO, container: 'c' }],
  ])('refuses by name, in the shape of this protocol: %s', async (param, body) => {
    const answer = await post(body);
    expect([answer.status, answer.json]).toMatchObject([
      400,
      { type: 'error', request_id: expect.stringMatching(/^exec_/) },
    ]);
    expect(errorOf(answer)).toMatchObject({ type: 'invalid_request_error', param });
  });

  it('leaves out unknown fields and names them; strict, it refuses; beta features are no reason (G-107)', async () => {
    const body = { messages: HELLO, context_management: {}, speed: 'fast' };
    const beta = { 'anthropic-beta': 'claude-code-20250219,nobody-knows-2031' };
    const answer = await post(body, beta);
    expect(answer.headers.get('x-gateway-ignored-fields')).toBe('context_management, speed');
    const refused = await post(body, { 'x-gateway-strict': 'true' });
    expect(errorOf(refused)).toMatchObject({
      code: 'invalid_request',
      param: 'context_management',
    });
  });

  it('leaves out unknown fields on every level, and names them by their paths (G-107)', async () => {
    const messages = asked({ type: 'text', text: 'Say hello', mood: 'good' });
    const body = { messages, tools: [{ ...WEATHER, color: 'red' }], model: 'gen-claude-like' };
    const answer = await post(body);
    expect([answer.status, answer.headers.get('x-gateway-ignored-fields')]).toEqual([
      200,
      'messages.0.content.0.mood, tools.0.color',
    ]);
    expect(JSON.stringify(await upstream())).not.toMatch(/mood|color/);
    const refused = await post(body, { 'x-gateway-strict': 'true' });
    expect(errorOf(refused)).toMatchObject({
      code: 'invalid_request',
      param: 'messages.0.content.0.mood',
    });
  });

  it('sends documents of text to a vendor of any protocol as text', async () => {
    const document = { type: 'document', source: { type: 'text', data: 'The sky is green.' } };
    await made({ messages: asked(document, { type: 'text', text: 'Which color?' }) });
    expect(JSON.stringify((await upstream()).messages)).toContain('The sky is green.');
  });

  it('tells its errors by status', async () => {
    const refusals = [
      await post({ messages: HELLO }, {}, {}),
      await post({ messages: HELLO, model: 'gen-99' }),
      await post({ messages: HELLO }, {}, (await gateway.account(0n)).headers),
    ];
    expect(refusals.map((answer) => [answer.status, errorOf(answer).type])).toEqual([
      [401, 'authentication_error'],
      [404, 'not_found_error'],
      [402, 'billing_error'],
    ]);
  });
});

it('POST /v1/messages/count_tokens counts free of charge, and says that it is an estimate', async () => {
  const body = { model: 'gen-5', messages: HELLO, tools: [WEATHER] };
  const answer = await postJson(url('/count_tokens'), { 'x-api-key': key }, body);
  expect([answer.status, answer.headers.get('x-gateway-token-count')]).toEqual([200, 'estimate']);
  expect((answer.json as { input_tokens: number }).input_tokens).toBeGreaterThan(5);
});

it('GET /v1/models lists the text models in this protocol to a client that sends anthropic-version (G-17)', async () => {
  const version = { 'anthropic-version': '2023-06-01' };
  const models = `${gateway.url}/v1/models`;
  const answer = await send(models, { headers: { 'x-api-key': key, ...version } });
  const list = answer.json as JsonObject & { data: JsonObject[] };
  const ids = list.data.map(({ id }) => id);
  expect(list).toMatchObject({ has_more: false, first_id: ids.at(0), last_id: ids.at(-1) });
  expect(ids).toContain('gen-5');
  expect(ids).not.toContain('aud-v4');
  expect(list.data[0]).toEqual({
    type: 'model',
    id: ids[0],
    display_name: ids[0],
    created_at: '2026-11-20T00:00:00Z',
  });
  const refused = await send(models, { headers: { 'x-api-key': 'sk-wrong', ...version } });
  expect([refused.status, errorOf(refused).type]).toEqual([401, 'authentication_error']);
  expect((await send(models, { headers: { 'x-api-key': key } })).status).toBe(401);
});

it('takes x-api-key nowhere else (G-17)', async () => {
  const answer = await postJson(
    `${gateway.url}/v1/chat/completions`,
    { 'x-api-key': key },
    { model: 'gen-5', messages: HELLO },
  );
  expect(answer.status).toBe(401);
});
