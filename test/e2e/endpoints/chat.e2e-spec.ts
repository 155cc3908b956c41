import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ChatHarness, SKY_CHAT } from '../../support/chat-harness.js';
import { expectRefused } from '../../support/refusal.js';

const user = (content: unknown) => ({ role: 'user', content });

let harness: ChatHarness;

beforeAll(async () => {
  harness = await ChatHarness.start();
});
afterAll(() => harness.stop());

describe('POST /v1/chat/completions', () => {
  it('answers a completion object under our name of the model (CHAT-01)', async () => {
    const { completion } = await harness.ask();
    expect(completion).toEqual({
      id: expect.stringMatching(/./),
      object: 'chat.completion',
      system_fingerprint: null,
      created: expect.any(Number),
      model: 'gen-5',
      choices: expect.any(Array),
      usage: expect.any(Object),
    });
    expect(Number.isInteger(completion.created)).toBe(true);
  });

  it('gives one choice of an assistant with text and a reason for its end (CHAT-02)', async () => {
    const { completion } = await harness.ask();
    expect(completion.choices).toHaveLength(1);
    const [choice] = completion.choices;
    expect(choice).toMatchObject({
      index: 0,
      message: { role: 'assistant' },
      finish_reason: 'stop',
    });
    expect(choice!.message.content).toContain('Why is the sky blue?');
  });

  it('reports usage whose total is the sum (CHAT-03)', async () => {
    const { usage } = (await harness.ask()).completion;
    for (const [name, count] of Object.entries(usage)) {
      if (name.endsWith('_tokens')) expect(Number.isInteger(count)).toBe(true);
    }
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
    expect(usage.prompt_tokens).toBeGreaterThan(0);
  });

  it('is one JSON object where stream is left out or false (CHAT-12)', async () => {
    for (const fields of [{}, { stream: false }, { stream: null }]) {
      const { answer, completion } = await harness.ask(fields);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(completion.object).toBe('chat.completion');
      expect((await harness.upstream()).body.stream).toBeUndefined();
    }
  });

  it('sends several messages in their order (CHAT-10)', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: 'Be kind.' },
      user('One'),
      { role: 'assistant', content: 'Two' },
      user('Three'),
    ];
    await harness.ask({ messages });
    expect((await harness.upstream()).body.messages).toEqual(messages);
  });

  it('passes content parts through (CHAT-11, G-92)', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const messages = [user([{ type: 'text', text: 'What is this?' }, image])];
    const { completion } = await harness.ask({ messages });
    expect((await harness.upstream()).body.messages).toEqual(messages);
    expect(completion.choices[0]!.message.content).toContain('1 image');
  });

  it('accepts an assistant message that only calls a tool, and the reply of the tool', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'get_time', arguments: '{}' } };
    const messages = [
      user('What time is it?'),
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'noon' },
    ];
    const { completion } = await harness.ask({ messages });
    expect((await harness.upstream()).body.messages).toEqual(messages);
    expect(completion.choices[0]!.message.content).toBe('The tool answered: noon');
  });

  it.each([0, 1, 2])('forwards temperature %d (CHAT-18)', async (temperature) => {
    await harness.ask({ temperature });
    expect((await harness.upstream()).body.temperature).toBe(temperature);
  });

  it('forwards max_tokens under the name that the model accepts, and the response is capped (CHAT-20)', async () => {
    for (const fields of [{ max_tokens: 1 }, { max_completion_tokens: 1 }, { max_tokens: 1.0 }]) {
      const { completion } = await harness.ask(fields);
      expect((await harness.upstream()).body.max_completion_tokens).toBe(1);
      expect(completion.usage.completion_tokens).toBe(1);
      expect(completion.choices[0]!.finish_reason).toBe('length');
    }
  });

  it('never requests more tokens than the model generates, and holds the price of these', async () => {
    await harness.ask({ max_tokens: 1_000_000 });
    expect((await harness.upstream()).body.max_completion_tokens).toBe(128_000);
  });

  it('sends the provider a cap, and otherwise only requested fields', async () => {
    await harness.ask();
    expect((await harness.upstream()).body).toEqual({
      model: 'gpt-5',
      messages: SKY_CHAT.messages,
      max_completion_tokens: 128_000,
    });
  });

  it('answers the same again for an Idempotency-Key, which no provider sees (CHAT-27, G-48)', async () => {
    const by = { ...harness.headers, 'idempotency-key': 'again' };
    const [first, again] = [await harness.chat({}, by), await harness.chat({}, by)];
    expect(again).toMatchObject({ status: 200, json: first.json });
    expect((await harness.upstream()).headers['idempotency-key']).toBeUndefined();
  });
});

describe('models and keys', () => {
  it.each([
    ['a missing model', 'CHAT-04', { model: undefined }, 400, 'invalid_request'],
    ['a number for a model', 'CHAT-04', { model: 5 }, 400, 'invalid_request'],
    ['an unknown model', 'CHAT-05', { model: 'gen-9' }, 404, 'model_not_found'],
    ['an image model', 'CHAT-06', { model: 'gen-image-2' }, 400, 'model_not_found'],
    ['a speech model', 'CHAT-06', { model: 'aud-v4' }, 400, 'model_not_found'],
    ['a model that does not exist', 'ERR-05', { model: 'gen-' }, 404, 'model_not_found'],
  ])('refuses %s (%s)', async (_what, _row, fields, status, code) => {
    await expectRefused(harness.gateway, harness.accountId, () => harness.chat(fields), {
      status,
      code,
      param: 'model',
    });
  });

  it('refuses a model outside the allowlist of the key (CHAT-07, G-08)', async () => {
    const key = await harness.gateway.keyOf(harness.accountId, { allowedModels: ['aud-v4'] });
    const by = { authorization: `Bearer ${key}` };
    await expectRefused(harness.gateway, harness.accountId, () => harness.chat({}, by), {
      status: 403,
      code: 'api_key_model_not_allowed',
    });
  });
});
