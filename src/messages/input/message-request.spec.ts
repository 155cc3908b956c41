import { describe, expect, it } from '@jest/globals';
import type { MessagesBody } from '../dto/messages.body.js';
import { messageRequestOf } from './message-request.js';

const BYTES = 50_000;
const FAKE = { type: 'image', source: { type: 'base64', data: 'x'.repeat(BYTES) } };
const HI = { role: 'user', content: 'Hi' };
const usedWith = (input: object) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id: 't', name: 'look', input }],
});

function promptTokensOf(fields: object): number {
  const body = { model: 'm', max_tokens: 1, stream: false, messages: [HI], ...fields };
  const sent = { body: body as MessagesBody, ignored: [], isStrict: false };
  return messageRequestOf(sent).promptTokens;
}

describe('the upper bound of a prompt of messages', () => {
  it.each<[string, object]>([
    ['the arguments of a call', { messages: [HI, usedWith({ a: FAKE })] }],
    ['a schema of a tool', { tools: [{ name: 'look', input_schema: { default: FAKE } }] }],
    ['the schema of the answer', { output_config: { format: { schema: { const: FAKE } } } }],
  ])('counts what looks like an image inside %s, for it is text', (_where, fields) => {
    expect(promptTokensOf(fields)).toBeGreaterThan(BYTES);
  });

  it('counts an image by itself, and not its bytes', () => {
    const shown = promptTokensOf({ messages: [{ role: 'user', content: [FAKE] }] });
    expect(shown).toBeLessThan(BYTES);
    const inResult = { type: 'tool_result', tool_use_id: 't', content: [FAKE] };
    const result = { role: 'user', content: [inResult] };
    expect(promptTokensOf({ messages: [HI, usedWith({}), result] })).toBeLessThan(BYTES);
  });
});
