import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/common/json-object.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

/** The fields of a response that the tests read. */
interface Made {
  readonly id: string;
  readonly status: string;
  readonly store: boolean;
  readonly output: { id: string; type: string; content: { text: string }[]; call_id: string }[];
  readonly usage: { input_tokens: number; cost_microusd: number };
  readonly billing: { charged_microusd: string; held_microusd: string; execution_id: string };
}

let gateway: GatewayFromOutside;
let headers: Record<string, string>;
let other: Record<string, string>;

beforeAll(async () => {
  gateway = await sharedGateway();
  [{ headers }, { headers: other }] = await Promise.all([gateway.account(), gateway.account()]);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const WEATHER = { type: 'function', name: 'get_weather', parameters: { type: 'object' } };
const url = (path = '') => `${gateway.url}/v1/responses${path}`;
const post = (body: object, by = headers, more: object = {}): Promise<Answer> =>
  postJson(url(), { ...by, ...more }, { model: 'gen-5', ...body });
const read = (path: string) => send(url(path), { headers });

/** A response that is accepted. */
async function made(body: object): Promise<Made> {
  const answer = await post(body);
  expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
  return answer.json as Made;
}

/** The messages that the provider got last. */
async function upstream(): Promise<JsonObject> {
  const [last] = await gateway.upstreamRequests();
  return last?.body as JsonObject;
}

describe('POST /v1/responses', () => {
  it('answers the whole object with its charge (G-108)', async () => {
    const answer = await post({
      input: 'Say hello',
      instructions: 'Be short',
      metadata: { a: 'b' },
    });
    const { id, output, usage, billing, ...rest } = answer.json as Made & JsonObject;
    expect(rest).toMatchObject({
      object: 'response',
      status: 'completed',
      store: true,
      background: false,
      error: null,
      incomplete_details: null,
      model: 'gen-5',
      instructions: 'Be short',
      metadata: { a: 'b' },
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
    });
    expect(output).toMatchObject([
      {
        id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'hello', annotations: [], logprobs: [] }],
      },
    ]);
    expect(billing.execution_id).toBe(id.replace('resp', 'exec'));
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe(billing.charged_microusd);
    expect(String(usage.cost_microusd)).toBe(billing.charged_microusd);
    const execution = await send(`${gateway.url}/v1/executions/${id}`, { headers });
    expect(execution.json).toMatchObject({
      endpoint: '/v1/responses',
      charged_microusd: billing.charged_microusd,
    });
  });

  it('continues a response: the provider gets the whole conversation, without the instructions (G-108)', async () => {
    const first = await made({ input: 'My name is Ada', instructions: 'Be short' });
    const second = await made({ input: 'Say hi', previous_response_id: first.id });
    const { messages } = await upstream();
    expect(messages).toMatchObject([
      { role: 'user', content: expect.anything() },
      { role: 'assistant' },
      { role: 'user' },
    ]);
    expect(JSON.stringify(messages)).toMatch(/My name is Ada.*Say hi/);
    expect(second.usage.input_tokens).toBeGreaterThan(first.usage.input_tokens);
  });

  it('resolves item_reference, as the AI SDK sends it (G-108)', async () => {
    const first = await made({ input: 'Say hello' });
    const id = first.output[0]?.id;
    await made({
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'Say hello' }] },
        { type: 'item_reference', id },
        { role: 'user', content: [{ type: 'input_text', text: 'And again' }] },
      ],
    });
    const { messages } = await upstream();
    expect(JSON.stringify(messages)).toMatch(/Say hello.*"assistant".*hello.*And again/);
  });

  it('calls a function, and takes its result', async () => {
    const first = await made({ input: 'Use get_weather for Graz', tools: [WEATHER] });
    const [call] = first.output;
    expect(call).toMatchObject({ type: 'function_call', name: 'get_weather', status: 'completed' });
    const second = await made({
      input: [{ type: 'function_call_output', call_id: call?.call_id, output: 'sunny' }],
      previous_response_id: first.id,
      tools: [WEATHER],
    });
    expect(second.output[0]?.content[0]?.text).toContain('sunny');
  });

  it('refuses a foreign or unknown id, and holds nothing (G-108)', async () => {
    const { id, output } = await made({ input: 'Say hello' });
    const refusals = [
      await post({ input: 'hi', previous_response_id: id }, other),
      await post({ input: 'hi', previous_response_id: `resp_${'0'.repeat(32)}` }),
      await post({ input: 'hi', previous_response_id: 'resp_of_another_gateway' }),
      await post({ input: [{ type: 'item_reference', id: output[0]?.id }] }, other),
      await post({ input: [{ role: 'user', content: 'a' }, { id: 'msg_1' }] }),
    ];
    expect(refusals.map(errorOf)).toMatchObject([
      { code: 'previous_response_not_found', param: 'previous_response_id' },
      { code: 'previous_response_not_found', param: 'previous_response_id' },
      { code: 'previous_response_not_found', param: 'previous_response_id' },
      { code: 'previous_response_not_found', param: 'input.0.id' },
      { code: 'previous_response_not_found', param: 'input.1.id' },
    ]);
  });

  it.each([
    ['input', { input: '' }],
    ['input.0.type', { input: [{ type: 'web_search_call' }] }],
    ['input.0.role', { input: [{ role: 'tool', content: 'a' }] }],
    [
      'input.1.content.0.type',
      {
        input: [
          { role: 'user', content: 'a' },
          { role: 'user', content: [{ type: 'input_file' }] },
        ],
      },
    ],
    [
      'input.0.content.0.file_id',
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
    ],
    ['input.0.call_id', { input: [{ type: 'function_call_output', call_id: 'c', output: 'a' }] }],
    ['tools.1.type', { input: 'a', tools: [WEATHER, { type: 'file_search' }] }],
    [
      'tool_choice.type',
      { input: 'a', tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } },
    ],
    [
      'tool_choice.name',
      { input: 'a', tools: [WEATHER], tool_choice: { type: 'function', name: 'b' } },
    ],
    ['text.format.name', { input: 'a', text: { format: { type: 'json_schema', schema: {} } } }],
    ['conversation', { input: 'a', conversation: 'conv_1' }],
    ['prompt', { input: 'a', prompt: { id: 'p' } }],
    ['service_tier', { input: 'a', service_tier: 'priority' }],
    ['include', { input: 'a', include: ['everything'] }],
    ['webhook', { input: 'a', webhook: 'https://example.com' }],
  ])('refuses by name: %s', async (param, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer).param).toBe(param);
  });

  it('leaves out unknown fields and hosted tools that clients send, and names them; strict, it refuses (G-107)', async () => {
    const body = { input: 'Say hello', client_metadata: {}, tools: [{ type: 'web_search' }] };
    const answer = await post(body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-ignored-fields')).toBe(
      'client_metadata, tools.0:web_search',
    );
    expect(await upstream()).not.toHaveProperty('tools');
    const refused = await post(body, headers, { 'x-gateway-strict': 'true' });
    expect(errorOf(refused)).toMatchObject({ code: 'invalid_request', param: 'client_metadata' });
  });

  it('names unknown fields inside items, tools and settings by their paths (G-107)', async () => {
    const part = { type: 'input_text', text: 'Say hello', mood: 'good' };
    const answer = await post({
      input: [
        { role: 'user', content: 'Hi' },
        { role: 'user', content: [part], color: 'red' },
      ],
      tools: [{ ...WEATHER, color: 'red' }],
      text: { verbosity: 'low', tone: 'dry' },
      reasoning: { effort: 'low', depth: 3 },
    });
    const names = answer.headers.get('x-gateway-ignored-fields')?.split(', ').sort();
    expect([answer.status, names]).toEqual([
      200,
      [
        ...['input.1.color', 'input.1.content.0.mood', 'reasoning.depth'],
        ...['text.tone', 'tools.0.color'],
      ],
    ]);
    expect(JSON.stringify(await upstream())).not.toMatch(/mood|"color"|tone|depth/);
  });

  it('offers only the tools of allowed_tools', async () => {
    const tools = [WEATHER, { type: 'function', name: 'other', parameters: { type: 'object' } }];
    const allowed = [{ type: 'function', name: 'other' }];
    await made({
      input: 'hi',
      tools,
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: allowed },
    });
    expect((await upstream()).tools).toMatchObject([{ function: { name: 'other' } }]);
  });

  it('stores nothing with store: false, and says so', async () => {
    const response = await made({ input: 'Say hello', store: false });
    expect(response.store).toBe(false);
    expect(errorOf(await read(`/${response.id}`)).code).toBe('not_found');
  });

  it('answers a conversation that is too large to store, and says so (G-108)', async () => {
    const image_url = `data:image/png;base64,${'A'.repeat(4 * 1024 * 1024)}`;
    const answer = await post({
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_image', image_url },
            { type: 'input_text', text: 'hi' },
          ],
        },
      ],
    });
    expect(answer.status).toBe(200);
    expect((answer.json as Made).store).toBe(false);
    expect(answer.headers.get('x-gateway-stored')).toBe('false');
  });
});
