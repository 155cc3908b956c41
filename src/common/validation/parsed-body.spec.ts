import { describe, expect, it } from '@jest/globals';
import { findBodyField } from './parsed-body.js';

const BODY = { model: 'm', stop: null, messages: [{ content: [{ text: 'hi' }] }] };

describe('findBodyField', () => {
  it.each([
    ['model', 'model'],
    ['stop', 'stop'],
    ['messages', 'messages'],
    ['messages[0].content', 'messages.0.content'],
    ['messages.0.content[0].text', 'messages.0.content.0.text'],
  ])('finds %s in the body and writes it as %s', (path, written) => {
    expect(findBodyField(BODY, path)).toBe(written);
  });

  it.each([
    'max_tokens',
    'messages[1]',
    'model.name',
    '',
    'constructor',
    '__proto__',
    'a b',
    'x'.repeat(201),
  ])('finds no %j in it', (path) => {
    expect(findBodyField(BODY, path)).toBeUndefined();
  });

  it('finds nothing in a request without a body', () => {
    expect(findBodyField(undefined, 'model')).toBeUndefined();
  });
});
