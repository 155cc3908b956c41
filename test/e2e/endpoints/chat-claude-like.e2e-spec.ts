import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { ChatHarness } from '../../support/chat-harness.js';

const MODEL = 'gen-claude-like';
const INPUT = 3n;
const OUTPUT = 15n;

let harness: ChatHarness;
let client: OpenAI;
beforeAll(async () => {
  harness = await ChatHarness.start();
  const apiKey = harness.headers.authorization!.replace('Bearer ', '');
  client = new OpenAI({ apiKey, baseURL: `${harness.gateway.url}/v1`, maxRetries: 0 });
});
afterAll(() => harness.stop());

const says = (content: string) => [{ role: 'user', content }] as const;
const charged = (headers: Headers) => BigInt(headers.get('x-gateway-charge-microusd') ?? '-1');
const WEATHER: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
};

async function streamed(body: object) {
  const stream = await client.chat.completions.create({
    model: MODEL,
    messages: [...says('Tell me about the moon')],
    stream: true,
    stream_options: { include_usage: true },
    ...body,
  } as OpenAI.ChatCompletionCreateParamsStreaming);
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const text = deltas.map(({ content }) => content ?? '').join('');
  return { chunks, deltas, text, usage: chunks.at(-1)!.usage };
}

describe('a chat with a model that speaks Messages', () => {
  it('is answered whole and charged by its tokens, and no id of the vendor is shown', async () => {
    const { completion, answer } = await harness.ask({ model: MODEL });
    expect(completion).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
      model: MODEL,
      choices: [{ finish_reason: 'stop', message: { role: 'assistant' } }],
    });
    expect(completion.choices[0]!.message.content).toContain('Why is the sky blue?');
    const { prompt_tokens: prompt, completion_tokens: made } = completion.usage;
    expect(charged(answer.headers)).toBe(BigInt(prompt) * INPUT + BigInt(made) * OUTPUT);
    const told = answer.bytes.toString() + JSON.stringify([...answer.headers]);
    expect(told).not.toMatch(/msg_|req_|claude-like"(?!,)|sandbox-organization|anthropic/);
    expect((await harness.upstream()).body).toMatchObject({
      model: 'claude-like',
      max_tokens: expect.any(Number),
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Why is the sky blue?' }] }],
    });
  });

  it('streams the same text, with its usage', async () => {
    const whole = await client.chat.completions.create({
      model: MODEL,
      messages: [...says('Tell me about the moon')],
    });
    const { text, usage, chunks } = await streamed({});
    expect(text).toBe(whole.choices[0]!.message.content);
    expect(usage).toMatchObject({ completion_tokens: whole.usage!.completion_tokens });
    const reasons = chunks.flatMap(({ choices }) => choices.map((choice) => choice.finish_reason));
    expect(reasons.filter((reason) => reason !== null)).toEqual(['stop']);
  });

  it('calls a tool and takes its answer, also while it thinks', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [...says('What is the weather in Graz?')];
    const asked = { model: MODEL, tools: [WEATHER], reasoning_effort: 'high' as const };
    const { choices } = await client.chat.completions.create({ ...asked, messages });
    const [{ message, finish_reason: reason }] = choices as [OpenAI.ChatCompletion.Choice];
    expect(reason).toBe('tool_calls');
    const [call] = message.tool_calls as [OpenAI.ChatCompletionMessageFunctionToolCall];
    expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather' } });
    expect(JSON.parse(call.function.arguments)).toEqual({ city: 'What is the weather in Graz?' });
    messages.push(message, { role: 'tool', tool_call_id: call.id, content: '21 degrees' });
    const after = await client.chat.completions.create({ ...asked, messages });
    expect(after.choices[0]!.message.content).toBe('The tool answered: 21 degrees');
    const { body } = await harness.upstream();
    expect(body).toMatchObject({
      thinking: { type: 'adaptive' },
      messages: [{}, { content: [{ type: 'thinking' }, { type: 'tool_use' }] }, {}],
    });
  });

  it('streams the arguments of a call', async () => {
    const { deltas } = await streamed({
      messages: says('What is the weather in Graz?'),
      tools: [WEATHER],
    });
    const calls = deltas.flatMap(({ tool_calls }) => tool_calls ?? []);
    expect(calls[0]).toMatchObject({ index: 0, id: expect.any(String) });
    const json = calls.map((call) => call.function?.arguments ?? '').join('');
    expect(JSON.parse(json)).toEqual({ city: 'What is the weather in Graz?' });
  });

  it.each([
    ['[[sandbox:tokens=50]]', { max_tokens: 5 }, 'length'],
    ['Say: one two three', { stop: 'two' }, 'stop'],
    ['[[sandbox:refuse]]', {}, 'content_filter'],
  ])('ends as it does elsewhere: %s', async (content, fields, reason) => {
    const { completion } = await harness.ask({ model: MODEL, messages: says(content), ...fields });
    expect(completion.choices[0]!.finish_reason).toBe(reason);
  });

  it('is free where it breaks before its reason, and whole after it (G-24)', async () => {
    const before = await harness.gateway.balance(harness.accountId);
    const words = (word: string) => says(`[[sandbox:tokens=3]] [[sandbox:${word}]]`);
    // The eighth event has the reason.
    for (let event = 0; event < 8; event += 1) {
      const call = streamed({ messages: words(`break-event=${event}`) });
      await expect(call).rejects.toThrow();
    }
    await expect(streamed({ messages: words('error-after=2') })).rejects.toThrow();
    const { available } = await harness.gateway.balance(harness.accountId);
    expect(available).toBe(before.available);
    for (const event of [8, 9, 10]) {
      const whole = streamed({ messages: words(`break-event=${event}`) });
      await expect(whole).resolves.toBeDefined();
    }
    const after = await harness.gateway.balance(harness.accountId);
    expect(after.held).toBe(0n);
    expect(before.available - after.available).toBeLessThan(1_000n);
  });

  it('answers a busy provider with 503', async () => {
    const answer = await harness.chat({ model: MODEL, messages: says('[[sandbox:status=529]]') });
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({ error: { code: 'provider_unavailable' } });
    expect(answer.bytes.toString()).not.toContain('verload');
  });
});
