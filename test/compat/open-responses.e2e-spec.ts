import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/common/json-object.js';
import { postJson } from '../support/http-answer.js';
import { type GatewayFromOutside, sharedGateway } from '../support/shared-gateway.js';

/** The fields that the schema of Open Responses (2026-04-24) requires of a response, with what their values may be. */
const TEXT_OR_NULL = (value: unknown) => value === null || typeof value === 'string';
const NUMBER = (value: unknown) => typeof value === 'number';
const NUMBER_OR_NULL = (value: unknown) => value === null || typeof value === 'number';
const OBJECT_OR_NULL = (value: unknown) => typeof value === 'object';
const OBJECT = (value: unknown) => typeof value === 'object' && value !== null;
const BOOLEAN = (value: unknown) => typeof value === 'boolean';
const REQUIRED: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: (value) => typeof value === 'string' && value !== '',
  object: (value) => value === 'response',
  created_at: Number.isInteger,
  completed_at: NUMBER_OR_NULL,
  status: (value) => ['completed', 'in_progress', 'incomplete'].includes(value as string),
  incomplete_details: OBJECT_OR_NULL,
  model: (value) => typeof value === 'string',
  previous_response_id: TEXT_OR_NULL,
  instructions: TEXT_OR_NULL,
  output: Array.isArray,
  error: OBJECT_OR_NULL,
  tools: Array.isArray,
  tool_choice: (value) => typeof value === 'string' || OBJECT(value),
  truncation: (value) => value === 'auto' || value === 'disabled',
  parallel_tool_calls: BOOLEAN,
  text: OBJECT,
  top_p: NUMBER,
  presence_penalty: NUMBER,
  frequency_penalty: NUMBER,
  top_logprobs: NUMBER,
  temperature: NUMBER,
  reasoning: OBJECT_OR_NULL,
  usage: OBJECT_OR_NULL,
  max_output_tokens: NUMBER_OR_NULL,
  max_tool_calls: NUMBER_OR_NULL,
  store: BOOLEAN,
  background: BOOLEAN,
  service_tier: (value) => typeof value === 'string',
  metadata: OBJECT,
  safety_identifier: TEXT_OR_NULL,
  prompt_cache_key: TEXT_OR_NULL,
};
/** What each kind of event has beside its type and its number. */
const OF_EVENT: Readonly<Record<string, readonly string[]>> = {
  'response.created': ['response'],
  'response.in_progress': ['response'],
  'response.output_item.added': ['output_index', 'item'],
  'response.output_item.done': ['output_index', 'item'],
  'response.content_part.added': ['item_id', 'output_index', 'content_index', 'part'],
  'response.content_part.done': ['item_id', 'output_index', 'content_index', 'part'],
  'response.output_text.delta': ['item_id', 'output_index', 'content_index', 'delta'],
  'response.output_text.done': ['item_id', 'output_index', 'content_index', 'text'],
  'response.function_call_arguments.delta': ['item_id', 'output_index', 'delta'],
  'response.function_call_arguments.done': ['item_id', 'output_index', 'arguments'],
  'response.completed': ['response'],
};
const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather for a location',
  parameters: {
    type: 'object',
    properties: { location: { type: 'string', description: 'The city and state' } },
    required: ['location'],
  },
};
const ASK_WEATHER = [
  { type: 'message', role: 'user', content: "What's the weather like in San Francisco?" },
];
const RED =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let gateway: GatewayFromOutside;
let headers: Record<string, string>;
beforeAll(async () => {
  gateway = await sharedGateway();
  ({ headers } = await gateway.account());
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const post = (body: object) =>
  postJson(`${gateway.url}/v1/responses`, headers, { model: 'gen-5', ...body });

function checked(response: JsonObject): { output: JsonObject[] } & JsonObject {
  const wrong = Object.entries(REQUIRED).filter(([name, holds]) => !holds(response[name]));
  expect(wrong.map(([name]) => name)).toEqual([]);
  const output = response.output as JsonObject[];
  for (const item of output) {
    expect(item).toMatchObject({
      id: expect.stringMatching(/./),
      type: expect.any(String),
      status: expect.any(String),
    });
  }
  return { ...response, output };
}

async function completed(body: object) {
  const answer = await post(body);
  expect(answer.status).toBe(200);
  const response = checked(answer.json as JsonObject);
  expect(response.status).toBe('completed');
  expect(response.output.length).toBeGreaterThan(0);
  return response;
}

/** The events of a stream, each of them checked. */
async function streamed(body: object): Promise<JsonObject[]> {
  const text = (await post({ ...body, stream: true })).bytes.toString();
  const blocks = text.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'));
  expect(blocks.pop()).toBe('data: [DONE]');
  return blocks.map((block, at) => {
    const [name, data] = block.split('\n') as [string, string];
    const event = JSON.parse(data.slice('data: '.length)) as JsonObject;
    expect(name).toBe(`event: ${event.type as string}`);
    expect(event.sequence_number).toBe(at);
    const missing = OF_EVENT[event.type as string]?.filter((field) => event[field] === undefined);
    expect({ type: event.type, missing }).toEqual({ type: event.type, missing: [] });
    if (event.response) checked(event.response as JsonObject);
    return event;
  });
}

/** The public list of checks of Open Responses, by their ids. */
describe('Open Responses', () => {
  it('basic-response', async () => {
    const input = [{ type: 'message', role: 'user', content: 'Say hello in exactly 3 words.' }];
    await completed({ input });
  });

  it('streaming-response', async () => {
    const events = await streamed({
      input: [{ type: 'message', role: 'user', content: 'Count from 1 to 5.' }],
    });
    expect(events[0]?.type).toBe('response.created');
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { status: 'completed' },
    });
  });

  it('system-prompt', async () => {
    await completed({
      input: [
        { type: 'message', role: 'system', content: 'You are a pirate. Always say Arrr.' },
        { type: 'message', role: 'user', content: 'Say hello.' },
      ],
    });
  });

  it('tool-calling', async () => {
    const { output } = await completed({ input: ASK_WEATHER, tools: [WEATHER] });
    expect(output).toMatchObject([
      { type: 'function_call', name: 'get_weather', call_id: expect.any(String) },
    ]);
  });

  it('tool-calling-streaming', async () => {
    const events = await streamed({ input: ASK_WEATHER, tools: [WEATHER] });
    const deltas = events.filter(({ type }) => type === 'response.function_call_arguments.delta');
    const done = events.find(({ type }) => type === 'response.function_call_arguments.done');
    expect(deltas.map(({ delta }) => delta).join('')).toBe(done?.arguments);
    expect(JSON.parse(done?.arguments as string)).toHaveProperty('location');
  });

  it('image-input', async () => {
    const content = [
      { type: 'input_text', text: 'What do you see in this image?' },
      { type: 'input_image', image_url: RED },
    ];
    await completed({ input: [{ type: 'message', role: 'user', content }] });
  });

  it('multi-turn', async () => {
    await completed({
      input: [
        { type: 'message', role: 'user', content: 'My name is Alice.' },
        { type: 'message', role: 'assistant', content: 'Hello Alice! Nice to meet you.' },
        { type: 'message', role: 'user', content: 'What is my name?' },
      ],
    });
  });
});
