import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';

/** The stock SDK with base URL and key, and no other option. */
let client: OpenAI;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.account();
  client = clientOf(account.key);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const clientOf = (apiKey: string, more: { maxRetries?: number } = {}) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, ...more });

const say = (content: string) => ({
  model: 'gen-5',
  messages: [{ role: 'user' as const, content }],
});

describe('the OpenAI SDK, unmodified', () => {
  it('chats (CHAT-28)', async () => {
    const completion = await client.chat.completions.create(say('Say hello'));
    expect(completion.choices[0]?.message.content).toBe('hello');
    expect(completion._request_id).toMatch(/^exec_/);
  });

  it('streams (CHAT-28)', async () => {
    const stream = await client.chat.completions.create({
      ...say('Say one two three'),
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let tokens = 0;
    for await (const { choices, usage } of stream) {
      text += choices[0]?.delta.content ?? '';
      tokens = usage?.completion_tokens ?? tokens;
    }
    expect(text).toBe('one two three');
    expect(tokens).toBeGreaterThan(0);
  });

  it('streams through its helper and takes the final completion', async () => {
    const final = await client.chat.completions.stream(say('Say hi')).finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe('hi');
    expect(final.model).toBe('gen-5');
  });

  it('makes vectors, which it asks for in base64 and decodes', async () => {
    const { data, model, usage } = await client.embeddings.create({
      model: 'gen-embed-demo',
      input: ['A lighthouse', 'A tower'],
      dimensions: 8,
    });
    expect(data.map(({ embedding }) => embedding.length)).toEqual([8, 8]);
    const square = data[0]!.embedding.reduce((sum, value) => sum + value * value, 0);
    expect(square).toBeCloseTo(1);
    expect({ model, tokens: usage.prompt_tokens > 0 }).toEqual({
      model: 'gen-embed-demo',
      tokens: true,
    });
    const [request] = await gateway.upstreamRequests();
    expect(request!.body).toMatchObject({ encoding_format: 'base64' });
  });

  it('runs a tool', async () => {
    let asked: unknown;
    const runner = client.chat.completions.runTools({
      ...say('Use get_weather for Graz'),
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'The weather of a city',
            parse: JSON.parse,
            parameters: { type: 'object', properties: { city: { type: 'string' } } },
            function: (values: object) => {
              asked = values;
              return 'sunny';
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('The tool answered: sunny');
    expect(asked).toEqual({ city: expect.any(String) });
  });

  it('gives structured output', async () => {
    const completion = await client.chat.completions.create({
      ...say('cats'),
      response_format: { type: 'json_object' },
    });
    expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toMatchObject({
      topic: 'cats',
    });
  });

  it('makes an image', async () => {
    const image = await client.images.generate({ model: 'gen-image-2', prompt: 'A boat' });
    const bytes = Buffer.from(image.data?.[0]?.b64_json ?? '', 'base64');
    expect(bytes.toString('latin1', 1, 4)).toBe('PNG');
  });

  it('creates speech', async () => {
    const speech = await client.audio.speech.create({
      model: 'aud-v4',
      input: 'Hello',
      voice: 'Adam',
    });
    expect(speech.headers.get('content-type')).toBe('audio/mpeg');
    expect((await speech.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
  });

  it('writes down what was spoken', async () => {
    const speech = await client.audio.speech.create({
      model: 'aud-v4',
      input: 'Hello there',
      voice: 'Adam',
    });
    const file = await toFile(Buffer.from(await speech.arrayBuffer()), 'hello.mp3');
    const { text } = await client.audio.transcriptions.create({ model: 'aud-transcribe-v2', file });
    expect(text).toMatch(/hello/i);
  });

  it('lists models (MODELS-08)', async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toEqual(expect.arrayContaining(['gen-5', 'gen-image-2', 'aud-v4']));
  });
});

describe('its own error classes, with code, param and requestID', () => {
  const patient = { maxRetries: 0 };
  const failureOf = async (call: Promise<unknown>) => {
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    return error as InstanceType<typeof OpenAI.APIError>;
  };

  it.each([
    ['a bad field', { temperature: 3 }, OpenAI.BadRequestError, 'invalid_request', 'temperature'],
    ['an unknown model', { model: 'gen-9' }, OpenAI.NotFoundError, 'model_not_found', 'model'],
    ['a refusal', magic('status=400'), OpenAI.BadRequestError, 'provider_rejected_request', null],
    ['a rate limit', magic('status=429'), OpenAI.RateLimitError, 'provider_rate_limited', null],
    ['a failure', magic('status=500'), OpenAI.InternalServerError, 'provider_http_error', null],
  ])('%s (ERR-43)', async (_what, fields, type, code, param) => {
    const call = clientOf(account.key, patient).chat.completions.create({
      ...say('Hello'),
      ...fields,
    } as OpenAI.ChatCompletionCreateParamsNonStreaming);
    const error = await failureOf(call);
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ code, param, requestID: expect.stringMatching(/^exec_/) });
  });

  it('a wrong key, an empty balance, a model that is not allowed (ERR-43)', async () => {
    const poor = await gateway.account(0n);
    const narrow = await gateway.keyOf(account.accountId, { allowedModels: ['aud-v4'] });
    const ask = (key: string) =>
      failureOf(clientOf(key, patient).chat.completions.create(say('x')));
    expect(await ask('sk-wrong')).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(await ask(narrow)).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(await ask(poor.key)).toMatchObject({ status: 402, code: 'insufficient_user_quota' });
  });

  it('an error event in the middle of a stream', async () => {
    const stream = await client.chat.completions.create({
      ...say('Hello'),
      ...magic('tokens=9', 'pace=5', 'break-after=3'),
      stream: true,
    });
    const read = async () => {
      for await (const chunk of stream) expect(chunk.object).toBe('chat.completion.chunk');
    };
    const error = await failureOf(read());
    expect(error.code).toBe('provider_http_error');
  });

  it('leaving a stream ends the provider and leaves nothing held', async () => {
    const stream = await client.chat.completions.create({
      ...say('Hello'),
      ...magic('tokens=5000', 'pace=5'),
      model: 'gen-4-mini',
      stream: true,
    });
    let read = 0;
    for await (const { choices } of stream) if ((read += choices.length) === 5) break;
    while ((await gateway.balance(account.accountId)).held > 0n) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const [chat] = (await gateway.sandbox?.chats(1)) ?? [];
    expect(chat).toMatchObject({ isAborted: true, isComplete: false });
  });
});

/** Magic inputs in a field that is no part of the prompt. */
function magic(...words: string[]): { user: string } {
  return { user: words.map((word) => `[[sandbox:${word}]]`).join(' ') };
}
