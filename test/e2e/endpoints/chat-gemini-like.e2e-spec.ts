import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { ChatHarness } from '../../support/chat-harness.js';

const MODEL = 'gen-gemini-like';
const INPUT = 1n;
const OUTPUT = 6n;

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

describe('a chat with a model behind generateContent', () => {
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
    expect(told).not.toMatch(/responseId|gemini-3|candidates/);
    const { path, body } = await harness.upstream();
    expect(path).toContain('/gemini-3-sandbox:generateContent');
    expect(body).toMatchObject({
      contents: [{ role: 'user', parts: [{ text: 'Why is the sky blue?' }] }],
      generationConfig: { maxOutputTokens: expect.any(Number) },
    });
  });

  it('streams the same text, with its usage, thoughts counted', async () => {
    const whole = await client.chat.completions.create({
      model: MODEL,
      messages: [...says('Tell me about the moon')],
    });
    const { text, usage, chunks } = await streamed({ reasoning_effort: 'low' });
    expect(text).toBe(whole.choices[0]!.message.content);
    const thoughts = usage!.completion_tokens_details!.reasoning_tokens!;
    expect(thoughts).toBeGreaterThan(0);
    expect(usage!.completion_tokens).toBe(whole.usage!.completion_tokens + thoughts);
    const reasons = chunks.flatMap(({ choices }) => choices.map((choice) => choice.finish_reason));
    expect(reasons.filter((reason) => reason !== null)).toEqual(['stop']);
  });

  it('calls a tool and takes its answer, with the signature that the vendor wants back', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [...says('What is the weather in Graz?')];
    const asked = { model: MODEL, tools: [WEATHER] };
    const { choices } = await client.chat.completions.create({ ...asked, messages });
    const [{ message, finish_reason: reason }] = choices as [OpenAI.ChatCompletion.Choice];
    expect(reason).toBe('tool_calls');
    const [call] = message.tool_calls as [OpenAI.ChatCompletionMessageFunctionToolCall];
    expect(JSON.parse(call.function.arguments)).toEqual({ city: 'What is the weather in Graz?' });
    messages.push(message, { role: 'tool', tool_call_id: call.id, content: '21 degrees' });
    const after = await client.chat.completions.create({ ...asked, messages });
    expect(after.choices[0]!.message.content).toBe('The tool answered: 21 degrees');
    const { body } = await harness.upstream();
    expect(JSON.stringify(body)).not.toContain('skip_thought_signature_validator');
  });

  it('takes a call back without its signature, which clients that know none leave out', async () => {
    const called = {
      id: 'call_1',
      type: 'function',
      function: { name: 'get_weather', arguments: '{}' },
    };
    const messages = [
      ...says('What is the weather in Graz?'),
      { role: 'assistant', content: null, tool_calls: [called] },
      { role: 'tool', tool_call_id: 'call_1', content: '21 degrees' },
    ];
    const { completion } = await harness.ask({ model: MODEL, messages, tools: [WEATHER] });
    expect(completion.choices[0]!.message.content).toBe('The tool answered: 21 degrees');
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

  it('gives JSON of a schema', async () => {
    const schema = { type: 'object', properties: { count: { type: 'integer' } } };
    const { completion } = await harness.ask({
      model: MODEL,
      response_format: { type: 'json_schema', json_schema: { name: 'count', schema } },
    });
    expect(JSON.parse(completion.choices[0]!.message.content)).toEqual({ count: 1 });
  });

  it('charges what the vendor had cached at its own price', async () => {
    const messages = says(`${'A long rule about everything. '.repeat(300)}${Math.random()}`);
    await harness.ask({ model: MODEL, messages, max_tokens: 5 });
    const { completion, answer } = await harness.ask({ model: MODEL, messages, max_tokens: 5 });
    const { prompt_tokens: prompt, prompt_tokens_details: details } =
      completion.usage as OpenAI.CompletionUsage;
    const cached = BigInt(details!.cached_tokens!);
    expect(cached).toBeGreaterThan(1_024n);
    const tenths = (BigInt(prompt) - cached) * 10n * INPUT + cached + 5n * 10n * OUTPUT;
    expect(charged(answer.headers)).toBe((tenths + 9n) / 10n);
  });

  it('ends with length at its cap, which thoughts count for', async () => {
    const messages = says('[[sandbox:tokens=50]] [[sandbox:reasoning=20]]');
    const { completion } = await harness.ask({ model: MODEL, messages, max_tokens: 30 });
    expect(completion.choices[0]!.finish_reason).toBe('length');
    expect(completion.usage).toMatchObject({
      completion_tokens: 30,
      completion_tokens_details: { reasoning_tokens: 20 },
    });
  });

  it('is a free refusal where the prompt is blocked, in a stream too', async () => {
    const before = await harness.gateway.balance(harness.accountId);
    for (const stream of [false, true]) {
      const messages = says('Hello [[sandbox:refuse]]');
      const answer = await harness.chat({ model: MODEL, messages, stream });
      expect(answer.status).toBe(400);
      expect(answer.json).toMatchObject({
        error: {
          code: 'provider_rejected_request',
          message: 'The provider refused the request: prohibited_content.',
        },
      });
    }
    expect(await harness.gateway.balance(harness.accountId)).toEqual(before);
  });

  it('is free where it breaks, after any of its events', async () => {
    const before = await harness.gateway.balance(harness.accountId);
    const words = (word: string) => says(`[[sandbox:tokens=3]] [[sandbox:${word}]]`);
    for (let event = 0; event < 4; event += 1) {
      const call = streamed({ messages: words(`break-event=${event}`) });
      await expect(call).rejects.toThrow();
    }
    await expect(streamed({ messages: words('error-after=2') })).rejects.toThrow();
    await expect(streamed({ messages: words('break-event=4') })).resolves.toBeDefined();
    const after = await harness.gateway.balance(harness.accountId);
    expect(after.held).toBe(0n);
    expect(before.available - after.available).toBeLessThan(200n);
  });

  it('answers a busy provider with 503', async () => {
    const answer = await harness.chat({ model: MODEL, messages: says('[[sandbox:status=503]]') });
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({ error: { code: 'provider_unavailable' } });
  });
});
