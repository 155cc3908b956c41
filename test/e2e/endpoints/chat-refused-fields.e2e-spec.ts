import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ChatHarness, SKY_CHAT } from '../../support/chat-harness.js';
import { postJson } from '../../support/http-answer.js';
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

describe('bad fields of a chat call', () => {
  it.each<[unknown]>([['1'], [-0.1], [2.1]])('refuses temperature %j (CHAT-19)', (temperature) =>
    refused({ temperature }, 'temperature').then(() => undefined),
  );

  it.each<[unknown]>([[0], [-1], [1.5], ['5']])('refuses max_tokens %j (CHAT-21)', (value) =>
    refused({ max_tokens: value }, 'max_tokens').then(() => undefined),
  );

  it.each<[unknown]>([['true'], [1]])('refuses stream %j (CHAT-14)', (stream) =>
    refused({ stream }, 'stream').then(() => undefined),
  );

  it.each<[unknown]>([[undefined], [null], ['hello'], [{}], [[]], [['hello']]])(
    'refuses messages %j (CHAT-08, G-92)',
    (messages) => refused({ messages }, 'messages').then(() => undefined),
  );

  it('says which message is no object', async () => {
    const { error } = await refused({ messages: [user('x'), null] }, 'messages');
    expect(error.message).toBe('messages.1 must be an object.');
  });

  it.each<[object, string]>([
    [{ content: 'x' }, 'messages.0.role'],
    [{ role: 'boss', content: 'x' }, 'messages.0.role'],
    [{ role: 'function', name: 'f', content: 'x' }, 'messages.0.role'],
    [{ role: 'user' }, 'messages.0.content'],
    [{ role: 'user', content: null }, 'messages.0.content'],
    [{ role: 'user', content: 5 }, 'messages.0.content'],
    [{ role: 'user', content: [] }, 'messages.0.content'],
    [{ role: 'assistant' }, 'messages.0.content'],
    [{ role: 'user', content: ['x'] }, 'messages.0.content.0'],
    [{ role: 'user', content: [{ type: 'text' }] }, 'messages.0.content.0.text'],
    [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'a long text' } }] },
      'messages.0.content.0.image_url.url',
    ],
  ])('refuses the message %j (CHAT-09, G-92)', async (message, param) => {
    await refused({ messages: [message] }, param);
  });

  it.each(['input_audio', 'file', 'video_url'])('refuses %s parts (G-23)', async (type) => {
    await refused({ messages: [user([{ type, [type]: {} }])] }, 'messages.0.content.0');
  });

  it.each<[string, string, string?]>([
    ['messages', '[{"role":"user","content":"\\ud800"}]', 'messages.0.content'],
    ['messages', '[{"role":"user","content":"a\\u0000b"}]', 'messages.0.content'],
    [
      'tools',
      '[{"type":"function","function":{"name":"f","description":"\\udc00"}}]',
      'tools.0.function.description',
    ],
    ['metadata', '{"\\ud83d":"x"}'],
    [
      'response_format',
      '{"type":"json_schema","json_schema":{"name":"\\ude00"}}',
      'response_format.json_schema.name',
    ],
    ['stop', '"\\ud800"'],
    ['user', '"\\ud800"'],
  ])('refuses text in %s that is not Unicode: %s', async (name, json, param = name) => {
    const rest = JSON.stringify({
      ...SKY_CHAT,
      ...(name === 'messages' && { messages: undefined }),
    });
    const body = `${rest.slice(0, -1)},"${name}":${json}}`;
    await expectRefused(
      harness.gateway,
      harness.accountId,
      () => postJson(`${harness.gateway.url}/v1/chat/completions`, harness.headers, body),
      {
        status: 400,
        code: 'invalid_request',
        param,
      },
    );
  });

  it('accepts a body of 15 MB and rejects one above 20 MB', async () => {
    const image = (bytes: number) => ({
      messages: [
        user([
          { type: 'text', text: 'What is this?' },
          {
            type: 'image_url',
            image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}` },
          },
        ]),
      ],
    });
    const before = (await harness.gateway.balance(harness.accountId)).available;
    await harness.ask({ ...image(15_000_000), model: 'gen-5-mini' });
    // The picture is priced as 4,096 tokens, not by its bytes.
    expect(before - (await harness.gateway.balance(harness.accountId)).available).toBeLessThan(
      2_000n,
    );
    await expectRefused(harness.gateway, harness.accountId, () => harness.chat(image(21_000_000)), {
      status: 413,
      code: 'request_too_large',
    });
  });
});
