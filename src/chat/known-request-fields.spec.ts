import { describe, expect, it } from '@jest/globals';
import { knownRequestOf } from './known-request-fields.js';

const part = { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } };

describe('the fields of a request', () => {
  it('are returned as the same objects if all are known', () => {
    const message = { role: 'user', content: [{ type: 'text', text: 'Hi' }], name: 'Ann' };
    const known = knownRequestOf({ messages: [message] });
    expect(known.messages[0]).toBe(message);
    expect(known.ignored).toEqual([]);
  });

  it('are left out and listed once if unknown', () => {
    const messages = [
      { role: 'user', content: [part, part] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', function: { name: 'f', x: 1 } }],
      },
    ];
    expect(knownRequestOf({ messages })).toEqual({
      messages: [
        { role: 'user', content: Array(2).fill({ type: 'text', text: 'Hi' }) },
        { role: 'assistant', content: null, tool_calls: [{ id: 'a', function: { name: 'f' } }] },
      ],
      ignored: ['messages.content.cache_control', 'messages.tool_calls.function.x'],
    });
  });

  it('are sent if the model row passes them', () => {
    const messages = [{ role: 'user', content: [part] }];
    expect(knownRequestOf({ messages }, ['cache_control'])).toEqual({ messages, ignored: [] });
  });

  it.each(['constructor', '__proto__', 'toString'])('named %s are unknown', (name) => {
    const message = JSON.parse(`{"role":"user","content":"x","${name}":{"a":1}}`) as object;
    const known = knownRequestOf({ messages: [message as never] });
    expect(Object.keys(known.messages[0] ?? {})).toEqual(['role', 'content']);
    expect(known.ignored).toEqual([`messages.${name}`]);
  });

  it('in the JSON Schema of a response format are not checked', () => {
    const schema = { type: 'object', vendor: { x: 1 } };
    const format = { type: 'json_schema', json_schema: { name: 'n', schema, cache_control: 1 } };
    expect(knownRequestOf({ messages: [], response_format: format })).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
      ignored: ['response_format.json_schema.cache_control'],
    });
  });
});
