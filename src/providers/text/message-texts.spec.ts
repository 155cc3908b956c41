import { describe, expect, it } from '@jest/globals';
import { textsOf } from './message-texts.js';

describe('the texts of a message', () => {
  it.each<[object, string[]]>([
    [{ content: 'a', reasoning_content: 'b', refusal: 'c' }, ['a', 'b', 'c']],
    [{ tool_calls: [{ function: { name: 'f', arguments: '{}' } }, null] }, ['f', '{}']],
    [{ tool_calls: [{ custom: { name: 'f', input: 'x' } }] }, ['f', 'x']],
    [
      { tool_calls: [{ id: 'c', type: 'function', function: { arguments: { a: 1 } } }] },
      ['{"a":1}'],
    ],
    [{ function_call: { name: 'f', arguments: '{"a":1}' } }, ['f', '{"a":1}']],
    [{ content: [{ type: 'text', text: 'a' }, null, { refusal: 'b' }, { text: 5 }] }, ['a', 'b']],
    [{ content: 5, refusal: '' }, []],
    [{ role: 'assistant', name: 'Ann', tool_call_id: 'c', content: 'a' }, ['a']],
    [{ reasoning: 'thought' }, ['thought']],
    [
      { reasoning_details: [{ type: 'reasoning.text', text: 'thought', signature: 's' }] },
      ['thought'],
    ],
    [{ reasoning_details: [{ type: 'reasoning.summary', summary: 'short' }] }, ['short']],
    [{ reasoning_details: [{ type: 'reasoning.encrypted', data: 'AAAA' }] }, []],
    [{ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'deep' }] }] }, ['deep']],
    [{ audio: { id: 'a', data: 'AAAA', transcript: 'said', expires_at: 5 } }, ['said']],
    [{ some_new_name: { inner: ['x', { y: 'z' }] } }, ['x', 'z']],
    [{ extra_content: { google: { thought_signature: 'AAAA' } } }, []],
    [{ content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,A' } }] }, []],
  ])('in %j are %j', (message, texts) => {
    expect(textsOf(message)).toEqual(texts);
  });

  it.each([
    [{ reasoning: 'ab', reasoning_content: 'ab' }, 'ab'],
    [{ reasoning: 'ab', reasoning_details: [{ text: 'a' }, { text: 'b' }] }, 'ab'],
    [{ content: [{ text: 'ab', content: 'ab' }] }, 'ab'],
    [{ tool_calls: [{ function: { name: 'f' } }, { function: { name: 'f' } }] }, 'ff'],
    [{ content: [{ text: 'a' }, { text: 'a' }] }, 'aa'],
  ])('under two names in %j count once: %s', (message, text) => {
    expect(textsOf(message).join('')).toBe(text);
  });

  it('are collected from 200,000 fields, half of them repeated, within the timeout of the test', () => {
    const names = Array.from({ length: 200_000 }, (_, place) => `k${place}`);
    const fields = Object.fromEntries(names.map((name, place) => [name, `t${place >> 1}`]));
    expect(textsOf(fields)).toHaveLength(100_000);
    expect(textsOf({ reasoning_details: [fields] })).toHaveLength(100_000);
  });
});
