import { describe, expect, it } from '@jest/globals';
import { CompletionChunks } from './completion-chunks.js';
import { completionOf, headOf } from './completion.mapper.js';

const HEAD = { id: 'c', created: 1, model: 'm' };
const messageOf = (message: object, more: object = {}) =>
  (completionOf(HEAD, { choices: [{ message, ...more }] }, {}).choices as object[])[0];
const called = (fields: object, more: object = {}) => ({ function: fields, ...more });

describe('a value of the wrong type in a field that clients read', () => {
  it.each([{}, { delta: null }, { delta: 'x' }, { delta: [] }, { delta: {}, finish_reason: 5 }])(
    'is an empty delta without a reason to end in the chunk of %j (CHAT-15, CHAT-16)',
    (choice) => {
      const { choices } = new CompletionChunks().chunkOf(HEAD, [{ index: 'a', ...choice }]);
      expect(choices).toEqual([{ index: 0, delta: { role: 'assistant' }, finish_reason: null }]);
    },
  );

  it.each([{}, { message: null }, { message: 'x' }, { message: {}, finish_reason: {} }])(
    'is an empty message that ended by itself in the answer of %j (CHAT-02)',
    (choice) => {
      const { choices } = completionOf(HEAD, { choices: [{ index: -1, ...choice }] }, {});
      const message = { role: 'assistant', content: null };
      expect(choices).toEqual([{ index: 0, logprobs: null, message, finish_reason: 'stop' }]);
    },
  );

  it.each([undefined, null, '1795132800', 1_795_132_800_000, 1_795_132_800.5, -1, 0, 1e300])(
    'is our own time where created is %j (CONV-04)',
    (created) => {
      const own = { ...HEAD, created: 1_795_000_000 };
      expect(headOf({ id: 'theirs', created }, own)).toEqual(own);
    },
  );

  it('stays unchanged if it is valid', () => {
    const logprobs = { content: [] };
    const delta = { role: 'assistant', content: 'x' };
    const choice = { index: 1, delta, finish_reason: 'stop', logprobs };
    expect(new CompletionChunks().chunkOf(HEAD, [choice]).choices).toEqual([choice]);
    expect(headOf({ created: 1_700_000_000 }, HEAD).created).toBe(1_700_000_000);
  });
});

describe('a response as the caller gets it', () => {
  it('has the known fields of choices and messages only, and no fingerprint (G-96)', () => {
    const message = {
      role: 'model',
      content: 'Hi',
      refusal: null,
      reasoning: 'so',
      reasoning_content: 'so',
      reasoning_details: [{ type: 'reasoning.text', text: 'so' }],
      annotations: [],
      audio: { id: 'a', transcript: 't' },
      extra_content: { google: {} },
      provider: 'vendor',
      tool_calls: [],
      images: [{ url: 'https://vendor.test' }],
    };
    const choices = [{ message, native_finish_reason: 'STOP', error: { message: 'vendor' } }];
    const { provider, images, tool_calls, ...known } = message;
    expect([provider, images, tool_calls]).toHaveLength(3);
    expect(completionOf(HEAD, { choices, system_fingerprint: 'fp' }, { x: 1 })).toEqual({
      ...HEAD,
      object: 'chat.completion',
      system_fingerprint: null,
      choices: [
        {
          index: 0,
          message: { ...known, role: 'assistant' },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { x: 1 },
    });
  });

  it('has content parts as text, and their reasoning in a field of its own', () => {
    const content = [
      {
        type: 'thinking',
        thinking: [
          { type: 'text', text: 'Let me ' },
          { type: 'text', text: 'see.' },
        ],
      },
      { type: 'text', text: 'a' },
      'b',
      { type: 'output_text', text: 'c' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      5,
    ];
    expect(messageOf({ content })).toMatchObject({
      message: { role: 'assistant', content: 'abc', reasoning_content: 'Let me see.' },
    });
    expect(messageOf({ content: [{ type: 'refusal', refusal: 'No.' }] })).toMatchObject({
      message: { content: '', refusal: 'No.' },
    });
  });

  it.each([
    [{ city: 'Riga' }, '{"city":"Riga"}'],
    ['{"city":"Riga"}', '{"city":"Riga"}'],
    [null, '{}'],
    [undefined, '{}'],
  ])('has the arguments %j of a call as JSON text', (given, text) => {
    const calls = [called({ name: 'f', arguments: given }, { id: 'call_1', index: 0, vendor: 1 })];
    expect(messageOf({ tool_calls: calls })).toMatchObject({ finish_reason: 'tool_calls' });
    expect(messageOf({ tool_calls: calls })).toHaveProperty('message.tool_calls', [
      { id: 'call_1', type: 'function', function: { name: 'f', arguments: text } },
    ]);
  });

  it('gives an id to a call without one', () => {
    expect(
      messageOf({ tool_calls: [called({ name: 'f', arguments: '{}' }, { id: '' })] }),
    ).toHaveProperty('message.tool_calls.0.id', expect.stringMatching(/^call_[0-9a-f]{24}$/));
  });

  it.each([
    ['stop', 'stop'],
    ['', 'tool_calls'],
    [null, 'tool_calls'],
    ['eos', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['tool_use', 'tool_calls'],
    ['SAFETY', 'content_filter'],
    ['a_new_word', 'tool_calls'],
  ])('if tools are called, the finish reason %j becomes %s', (reason, shown) => {
    const calls = [called({ name: 'f', arguments: '{}' })];
    expect(messageOf({ tool_calls: calls }, { finish_reason: reason })).toMatchObject({
      finish_reason: shown,
    });
  });
});
