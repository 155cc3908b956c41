import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ChatHarness, SKY_CHAT } from '../../support/chat-harness.js';
import { expectRefused } from '../../support/refusal.js';

const user = (content: unknown) => ({ role: 'user', content });

let harness: ChatHarness;

beforeAll(async () => {
  harness = await ChatHarness.start();
});
afterAll(() => harness.stop());

const refused = (fields: object, param: string | null) =>
  expectRefused(harness.gateway, harness.accountId, () => harness.chat(fields), {
    status: 400,
    code: 'invalid_request',
    ...(param !== null && { param }),
  });

describe('the standard parameters (decision G-02)', () => {
  const tool = { type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } };
  it.each<[string, unknown]>([
    ['top_p', 0.5],
    ['stop', 'END'],
    ['stop', ['a', 'b']],
    ['seed', 42],
    ['n', 1],
    ['presence_penalty', -2],
    ['frequency_penalty', 2],
    ['logit_bias', { '50256': -100 }],
    ['logprobs', true],
    ['top_logprobs', 3],
    ['tools', [tool]],
    ['tool_choice', 'none'],
    ['tool_choice', { type: 'function', function: { name: 'look_up' } }],
    ['parallel_tool_calls', false],
    ['response_format', { type: 'json_object' }],
    ['response_format', { type: 'json_schema', json_schema: { name: 'x', schema: {} } }],
    ['user', 'somebody'],
    ['reasoning_effort', 'none'],
    ['reasoning_effort', 'max'],
    ['verbosity', 'high'],
    ['metadata', { trace: 'abc' }],
    ['prompt_cache_key', 'key'],
    ['safety_identifier', 'id'],
    ['store', false],
  ])('forwards %s %j (CHAT-22, G-02)', async (name, value) => {
    await harness.ask({ tools: name === 'tool_choice' ? [tool] : undefined, [name]: value });
    expect((await harness.upstream()).body[name]).toEqual(value);
  });

  it('accepts stream_options without a stream and does not forward them', async () => {
    await harness.ask({ stream_options: { include_usage: true } });
    expect((await harness.upstream()).body.stream_options).toBeUndefined();
  });

  it('treats null in any of them as absent (CONV-03)', async () => {
    await harness.ask({
      temperature: null,
      top_p: null,
      tools: null,
      stop: null,
      store: null,
      n: null,
    });
    expect((await harness.upstream()).body).toEqual({
      model: 'gpt-5',
      messages: SKY_CHAT.messages,
      max_completion_tokens: 128_000,
    });
  });

  it.each<[string, unknown]>([
    ['service_tier', 'auto'],
    ['service_tier', 'default'],
    ['modalities', ['text']],
    ...['audio', 'functions', 'function_call', 'modalities', 'prediction'].map(
      (name) => [name, null] as [string, null],
    ),
    ...['prompt_cache_retention', 'service_tier', 'web_search_options'].map(
      (name) => [name, null] as [string, null],
    ),
  ])(
    'takes %s %j, which names what is done anyway, and does not forward it (G-02)',
    async (name, value) => {
      await harness.ask({ [name]: value });
      expect((await harness.upstream()).body).not.toHaveProperty(name);
    },
  );

  it('says the bound of a seed that JSON cannot carry', async () => {
    const { error } = await refused({ seed: 2 ** 53 }, 'seed');
    expect(error.message).toContain(`${Number.MAX_SAFE_INTEGER}`);
  });

  it('leaves out unknown fields of messages, parts and tools, and names them (G-92)', async () => {
    const schema = { type: 'object', properties: {}, 'x-own': { cache_control: 1 } };
    const answer = await harness.chat({
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }],
          cache_control: { type: 'ephemeral' },
        },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'f', parameters: schema, defer: 1 },
          cache_control: {},
        },
      ],
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-ignored-fields')?.split(', ').sort()).toEqual([
      'messages.cache_control',
      'messages.content.cache_control',
      'tools.cache_control',
      'tools.function.defer',
    ]);
    expect((await harness.upstream()).body).toMatchObject({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
    });
    expect(JSON.stringify((await harness.upstream()).body)).not.toMatch(/ephemeral|defer/);
  });

  it.each<[object, object]>([
    [
      { content: null, reasoning_content: 'I thought.' },
      { content: '', reasoning_content: 'I thought.' },
    ],
    [{ reasoning: 'I thought.' }, { content: '', reasoning: 'I thought.' }],
    [{ content: null }, { content: '' }],
    [
      { content: null, reasoning_details: [{ type: 'reasoning.text', text: 'a' }], refusal: null },
      { content: '', reasoning_details: [{ type: 'reasoning.text', text: 'a' }], refusal: null },
    ],
  ])('takes what we answer as history: assistant %j', async (said, sent) => {
    const messages = [user('x'), { role: 'assistant', ...said }, user('y')];
    const answer = await harness.chat({ messages });
    expect(answer.status).toBe(200);
    expect((await harness.upstream()).body.messages).toEqual([
      user('x'),
      { role: 'assistant', ...sent },
      user('y'),
    ]);
  });

  it.each<[string, unknown]>([
    ['foo', 1],
    ['functions', []],
    ['audio', {}],
    ['service_tier', 'flex'],
    ['modalities', ['text', 'audio']],
    ['modalities', 'text'],
    ['web_search_options', {}],
    ['seed', 2 ** 53],
    ['top_p', 1.1],
    ['stop', ['a', 'b', 'c', 'd', 'e']],
    ['stop', 5],
    ['seed', 0.5],
    ['n', 2],
    ['n', 0],
    ['presence_penalty', 2.1],
    ['frequency_penalty', '1'],
    ['logit_bias', { hello: 1 }],
    ['logit_bias', { '1': 101 }],
    ['logprobs', 'true'],
    ['top_logprobs', 21],
    ['tools', {}],
    ['tool_choice', 'maybe'],
    ['parallel_tool_calls', 1],
    ['response_format', 'json'],
    ['response_format', { type: 'xml' }],
    ['stream_options', { include_usage: 'yes' }],
    ['stream_options', { foo: true }],
    ['reasoning_effort', 'lots'],
    ['verbosity', 'huge'],
    ['metadata', { nested: {} }],
    ['store', true],
  ])('refuses %s %j (CHAT-22, G-02)', async (name, value) => {
    await refused({ [name]: value }, name);
  });

  it.each<[unknown, string]>([
    [null, 'tools.1'],
    [{ type: 'web_search' }, 'tools.1.type'],
    [{ type: 'function' }, 'tools.1.function'],
    [{ type: 'function', function: {} }, 'tools.1.function.name'],
    [{ type: 'function', function: { name: 'a b' } }, 'tools.1.function.name'],
    [{ type: 'custom', custom: { name: 'a\u0000' } }, 'tools.1.custom.name'],
  ])('says which tool is wrong, and where: %j (CHAT-22)', async (wrong, param) => {
    const { error } = await refused({ tools: [tool, wrong] }, param);
    expect(error.message.startsWith(`${param} must be`)).toBe(true);
  });

  it('refuses both names of the token limit at once', async () => {
    await refused({ max_tokens: 1, max_completion_tokens: 1 }, 'max_tokens');
  });
});
