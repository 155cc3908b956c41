import { inflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { SANDBOX_API_KEY } from '../http/protocol.js';
import { SandboxServer } from '../sandbox-server.js';
import { tokensOf } from '../chat/chat-reply.js';

const server = new SandboxServer();
let base = '';
let client: OpenAI;
beforeAll(async () => {
  base = `http://127.0.0.1:${await server.listen()}/openai/v1`;
  client = new OpenAI({ apiKey: SANDBOX_API_KEY, baseURL: base, maxRetries: 0 });
});
afterAll(() => server.close());

function ask(content: string, more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) {
  return client.chat.completions.create({
    model: 'some-model',
    messages: [{ role: 'user', content }],
    ...more,
  });
}

function askStream(content: string, signal?: AbortSignal) {
  return client.chat.completions.create(
    {
      model: 'some-model',
      messages: [{ role: 'user', content }],
      stream: true,
      stream_options: { include_usage: true },
    },
    signal === undefined ? {} : { signal },
  );
}

describe('POST /v1/chat/completions', () => {
  it('answers about the topic and counts its own tokens', async () => {
    const answer = await ask('Why is the sky blue?');
    const content = answer.choices[0]!.message.content!;
    expect(content).toContain('Why is the sky blue?');
    expect(answer.choices[0]!.finish_reason).toBe('stop');
    expect(answer.usage).toMatchObject({
      prompt_tokens: tokensOf('Why is the sky blue?').length + 6,
      completion_tokens: tokensOf(content).length,
    });
    expect(answer.usage!.total_tokens).toBe(
      answer.usage!.prompt_tokens + answer.usage!.completion_tokens,
    );
  });

  it('streams the same reply token by token with a last chunk of usage', async () => {
    const whole = await ask('Tell me about the moon');
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await askStream('Tell me about the moon')) chunks.push(chunk);
    const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
    expect(text).toBe(whole.choices[0]!.message.content);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
    expect(chunks[0]!.usage).toBeNull();
    expect(server.lastChats(1)[0]).toMatchObject({
      completionTokens: whole.usage!.completion_tokens,
      isComplete: true,
      isAborted: false,
    });
  });

  it('stops at max_tokens and at stop sequences', async () => {
    const short = await ask('[[sandbox:tokens=50]]', { max_tokens: 5 });
    expect(short.choices[0]!.finish_reason).toBe('length');
    expect(short.usage!.completion_tokens).toBe(5);
    const stopped = await ask('Say: one two three', { stop: ['two'] });
    expect(stopped.choices[0]!.message.content).toBe('one ');
  });

  it('calls a tool when one is named or demanded, and speaks about its answer', async () => {
    const tools: OpenAI.ChatCompletionTool[] = [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          parameters: {
            type: 'object',
            properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['c', 'f'] } },
          },
        },
      },
    ];
    const answer = await ask('What is the weather in Graz?', { tools });
    expect(answer.choices[0]!.finish_reason).toBe('tool_calls');
    const call = answer.choices[0]!.message.tool_calls![0]!;
    expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather' } });
    const values = JSON.parse((call as { function: { arguments: string } }).function.arguments);
    expect(values).toEqual({ city: 'What is the weather in Graz?', unit: 'c' });
    const after = await client.chat.completions.create({
      model: 'some-model',
      tools,
      messages: [
        { role: 'user', content: 'What is the weather in Graz?' },
        answer.choices[0]!.message,
        { role: 'tool', tool_call_id: call.id, content: '21 degrees' },
      ],
    });
    expect(after.choices[0]!.message.content).toBe('The tool answered: 21 degrees');
  });

  it('gives JSON when JSON is asked for', async () => {
    const schema = { type: 'object', properties: { count: { type: 'integer' } } };
    const free = await ask('cats', { response_format: { type: 'json_object' } });
    const fixed = await ask('cats', {
      response_format: { type: 'json_schema', json_schema: { name: 'count', schema } },
    });
    expect(JSON.parse(free.choices[0]!.message.content!)).toMatchObject({ topic: 'cats' });
    expect(JSON.parse(fixed.choices[0]!.message.content!)).toEqual({ count: 1 });
  });

  it('leaves out usage or reports zero on demand', async () => {
    expect((await ask('[[sandbox:no-usage]]')).usage).toBeUndefined();
    expect((await ask('[[sandbox:zero-usage]]')).usage).toMatchObject({ total_tokens: 0 });
  });

  it('breaks a stream, or ends it with an error event, after the asked number of tokens', async () => {
    for (const word of ['break-after=3', 'error-after=3']) {
      let received = 0;
      const read = async () => {
        for await (const chunk of await askStream(`[[sandbox:tokens=9]] [[sandbox:${word}]]`)) {
          if (chunk.choices[0]?.delta.content) received++;
        }
      };
      await expect(read()).rejects.toThrow();
      expect(received).toBe(3);
      expect(server.lastChats(1)[0]).toMatchObject({ completionTokens: 3, isComplete: false });
    }
  });

  it('notices a client that leaves and stops producing', async () => {
    const leaving = new AbortController();
    const stream = await askStream('[[sandbox:tokens=1000]] [[sandbox:pace=5]]', leaving.signal);
    let received = 0;
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content && ++received === 4) leaving.abort();
    }
    while (server.stats().inFlight > 0) await new Promise(setImmediate);
    const [chat] = server.lastChats(1);
    expect(chat).toMatchObject({ isAborted: true, isComplete: false });
    expect(chat!.completionTokens).toBeGreaterThanOrEqual(4);
    expect(chat!.completionTokens).toBeLessThan(1000);
  });

  it.each([
    ['no messages', { model: 'm', messages: [] }, 'messages'],
    [
      'a strange role',
      { model: 'm', messages: [{ role: 'boss', content: 'x' }] },
      'messages[0].role',
    ],
    ['a bad temperature', { model: 'm', messages: [], temperature: 3 }, 'temperature'],
  ])('refuses %s and names the parameter', async (_what, body, param) => {
    const answer = await fetch(`${base}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SANDBOX_API_KEY}` },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error', param } });
  });

  it('answers magic statuses in the shape of the provider', async () => {
    const quota = ask('[[sandbox:status=429]] [[sandbox:code=insufficient_quota]]');
    await expect(quota).rejects.toMatchObject({ status: 429, code: 'insufficient_quota' });
    await expect(ask('[[sandbox:status=503]]')).rejects.toMatchObject({
      status: 503,
      type: 'server_error',
    });
  });
});

describe('POST /v1/images/generations', () => {
  const draw = (prompt: string, size?: '1536x1024') =>
    client.images.generate({ model: 'some-model', prompt, ...(size && { size }) });

  it('draws a PNG of the asked size', async () => {
    const answer = await draw('A lighthouse at night', '1536x1024');
    const file = Buffer.from(answer.data![0]!.b64_json!, 'base64');
    expect(file.toString('latin1', 1, 4)).toBe('PNG');
    expect([file.readUInt32BE(16), file.readUInt32BE(20)]).toEqual([1536, 1024]);
    const rows = inflateSync(file.subarray(41, 41 + file.readUInt32BE(33)));
    expect(rows).toHaveLength((1536 * 3 + 1) * 1024);
    // Only the letters have pixels this bright.
    expect(rows.includes(Buffer.alloc(9, 245))).toBe(true);
    expect(answer.usage!.output_tokens).toBe(1536);
  });

  it('answers a URL, or no picture at all, on demand', async () => {
    const { url } = (await draw('A tree [[sandbox:url]]')).data![0]!;
    const file = Buffer.from(await (await fetch(url!)).arrayBuffer());
    expect(file.toString('latin1', 1, 4)).toBe('PNG');
    expect((await draw('A tree [[sandbox:no-data]]')).data).toEqual([]);
  });

  it('refuses a field it does not know, a strange size and a missing prompt', async () => {
    const refused = { status: 400, type: 'invalid_request_error' };
    const generate = (body: object) => client.images.generate(body as OpenAI.ImageGenerateParams);
    await expect(generate({ prompt: 'a', response_format: 'b64_json' })).rejects.toMatchObject(
      refused,
    );
    await expect(generate({ prompt: 'a', size: '100x100' })).rejects.toMatchObject(refused);
    await expect(generate({})).rejects.toMatchObject({ ...refused, param: 'prompt' });
  });
});
