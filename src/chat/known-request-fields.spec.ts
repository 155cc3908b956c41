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

  it.each<[string, object, object]>([
    [
      'one tool',
      { type: 'function', function: { name: 'f', x: 1 }, y: 2 },
      { type: 'function', function: { name: 'f' } },
    ],
    [
      'allowed tools',
      {
        type: 'allowed_tools',
        y: 2,
        allowed_tools: {
          mode: 'auto',
          tools: [{ type: 'function', function: { name: 'f', x: 1 } }],
        },
      },
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
    ],
  ])('in a choice of %s are left out and listed', (_what, choice, sent) => {
    const known = knownRequestOf({ messages: [], tool_choice: choice as never });
    expect(known.tool_choice).toEqual(sent);
    expect(known.ignored).toHaveLength(2);
    for (const path of known.ignored) expect(path).toMatch(/^tool_choice\.(\w+\.)*[xy]$/);
  });

  it('in the grammar of a custom tool are left out and listed', () => {
    const grammar = { syntax: 'lark', definition: 'd' };
    const tool = { type: 'custom', custom: { name: 'n', format: { type: 'grammar', grammar } } };
    const format = { type: 'grammar', grammar: { ...grammar, x: 1 } };
    const sent = { type: 'custom', custom: { name: 'n', format } };
    const known = knownRequestOf({ messages: [], tools: [sent] });
    expect(known).toMatchObject({ ignored: ['tools.custom.format.grammar.x'] });
    expect(known.tools).toEqual([tool]);
  });
});
