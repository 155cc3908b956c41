import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

/** The stock SDK with base URL and key, and no other option. */
let client: OpenAI;
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
  const { key: apiKey } = await gateway.account();
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const model = 'gen-5';
const tools = [
  {
    type: 'function' as const,
    name: 'get_weather',
    description: 'The weather of a city',
    strict: false,
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
];

async function eventsOf(body: object): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  const stream = await client.responses.create({
    model,
    input: 'Say hello',
    ...body,
    stream: true,
  });
  for await (const event of stream) events.push(event);
  return events;
}

describe('responses of the OpenAI SDK, unmodified', () => {
  it('are created, and continued by previous_response_id', async () => {
    const first = await client.responses.create({ model, input: 'Say hello' });
    expect(first.output_text).toBe('hello');
    const second = await client.responses.create({
      model,
      input: 'Say hi',
      previous_response_id: first.id,
    });
    expect(second.output_text).toBe('hi');
    expect(second.previous_response_id).toBe(first.id);
  });

  it('are streamed, in the order of the protocol', async () => {
    const events = await eventsOf({ input: 'Say one two' });
    expect(events.map(({ sequence_number: at }) => at)).toEqual(events.map((_event, at) => at));
    const types = events.map(({ type }) => type);
    expect(types.filter((type, at) => type !== types[at - 1])).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  it('are streamed through the helper', async () => {
    const stream = client.responses.stream({ model, input: 'Say one two three' });
    let text = '';
    stream.on('response.output_text.delta', ({ delta }) => {
      text += delta;
    });
    const final = await stream.finalResponse();
    expect(text).toBe('one two three');
    expect(final.output_text).toBe('one two three');
    expect(final.usage?.total_tokens).toBeGreaterThan(0);
  });

  it('call a tool in a stream, whose result goes back by previous_response_id', async () => {
    const stream = client.responses.stream({ model, input: 'Use get_weather for Graz', tools });
    const { output, id } = await stream.finalResponse();
    const [call] = output;
    if (call?.type !== 'function_call') throw new Error('no call');
    expect(JSON.parse(call.arguments)).toEqual({ city: expect.any(String) });
    const answer = await client.responses.create({
      model,
      tools,
      previous_response_id: id,
      input: [{ type: 'function_call_output', call_id: call.call_id, output: 'sunny' }],
    });
    expect(answer.output_text).toContain('sunny');
  });

  it('take whole items back as history', async () => {
    const first = await client.responses.create({ model, input: 'Say hello' });
    const second = await client.responses.create({
      model,
      input: [...first.output, { role: 'user', content: 'Say hi' }] as never,
    });
    expect(second.output_text).toBe('hi');
  });

  it('are parsed by a schema', async () => {
    const parsed = await client.responses.parse({
      model,
      input: 'Name a city',
      text: {
        format: {
          type: 'json_schema',
          name: 'city',
          schema: { type: 'object', properties: { city: { type: 'string' } } },
        },
      },
    });
    expect(() => JSON.parse(parsed.output_text) as unknown).not.toThrow();
  });

  it('that are cut at max_output_tokens are incomplete', async () => {
    const events = await eventsOf({
      input: 'Tell a story [[sandbox:tokens=50]]',
      max_output_tokens: 5,
    });
    const last = events.at(-1);
    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        output: [{ status: 'incomplete' }],
      },
    });
  });

  it('that break in a stream make the client throw, and charge nothing', async () => {
    const broken = eventsOf({ input: 'Tell a story [[sandbox:break-after=3]]' });
    await expect(broken).rejects.toThrow();
    const helper = client.responses.stream({ model, input: 'Tell [[sandbox:error-after=3]]' });
    await expect(helper.finalResponse()).rejects.toThrow();
  });

  it('are read, listed and deleted', async () => {
    const { id } = await client.responses.create({ model, input: 'Say hello' });
    expect((await client.responses.retrieve(id)).output_text).toBe('hello');
    const { data } = await client.responses.inputItems.list(id);
    expect(data).toHaveLength(1);
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });
});
