import { afterAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../common/json-object.js';
import { ChatUsage, textsOf } from './chat-usage.js';
import { TokenCounter } from './tokens/token-counter.js';

describe('the texts of a message', () => {
  it.each<[object, string[]]>([
    [{ content: 'a', reasoning_content: 'b', refusal: 'c' }, ['a', 'b', 'c']],
    [{ tool_calls: [{ function: { name: 'f', arguments: '{}' } }, null] }, ['f', '{}']],
    [{ tool_calls: [{ custom: { name: 'f', input: 'x' } }] }, ['f', 'x']],
    [{ function_call: { name: 'f', arguments: '{"a":1}' } }, ['f', '{"a":1}']],
    [{ content: [{ type: 'text', text: 'a' }, null, { refusal: 'b' }, { text: 5 }] }, ['a', 'b']],
    [{ content: 5, refusal: '', tool_calls: 'x', function_call: 'y' }, []],
  ])('in %j are %j', (message, texts) => {
    expect(textsOf(message)).toEqual(texts);
  });
});

describe('usage that no provider reports', () => {
  const counter = new TokenCounter();
  afterAll(() => counter.beforeApplicationShutdown());

  it('counts each text of the prompt once', async () => {
    const messages: JsonObject[] = [
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      { role: 'assistant', function_call: { name: 'f', arguments: '{}' } },
      { role: 'user', content: 'b' },
    ];
    const made = () => ({ text: 'made', lostTokens: 0 });
    const usage = await new ChatUsage(counter).of(
      'account',
      null,
      { messages, maxTokens: 1 },
      made,
    );
    // Four texts of one token each; a message and a reply cost three each.
    expect(usage).toMatchObject({ promptTokens: 4 + 3 * 3 + 3, completionTokens: 1 });
  });

  it('is estimated where text was not kept', async () => {
    const made = () => ({ text: 'made', lostTokens: 70 });
    const usage = await new ChatUsage(counter).of(
      'account',
      null,
      { messages: [], maxTokens: 1 },
      made,
    );
    expect(usage).toMatchObject({ completionTokens: 71, isEstimated: true });
  });
});
