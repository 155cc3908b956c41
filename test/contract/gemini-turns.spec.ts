import { describe, expect, it } from '@jest/globals';
import {
  geminiContentsOf,
  ImageWithoutBytesError,
} from '../../src/providers/gemini/gemini-contents.js';
import { thinkingConfigOf } from '../../src/providers/gemini/gemini-thinking.js';
import { geminiUsageOf } from '../../src/providers/gemini/gemini-usage.js';
import type { ConversationMessage, ToolCallPart } from '../../src/providers/ports/conversation.js';
import { COUNTED, USAGE } from './gemini-wires.js';

const turns = (messages: readonly ConversationMessage[], signsCalls = true) =>
  geminiContentsOf({ messages, tools: [], settings: {} }, signsCalls);
const text = (value: string) => ({ type: 'text', text: value }) as const;
const call = (id: string, args = '{"a":1}', signature?: string): ToolCallPart => ({
  type: 'tool-call',
  id,
  kind: 'function',
  name: `name-of-${id}`,
  arguments: args,
  ...(signature && { sealed: { family: 'gemini', value: { thoughtSignature: signature } } }),
});
const result = (callId: string, value: string, isError?: boolean): ConversationMessage => ({
  role: 'tool',
  callId,
  parts: [text(value)],
  ...(isError && { isError }),
});
const sentCall = (id: string, thoughtSignature?: string, args: object = { a: 1 }) => ({
  functionCall: { id, name: `name-of-${id}`, args },
  ...(thoughtSignature && { thoughtSignature }),
});
const sentResult = (id: string, response: object) => ({
  functionResponse: { id, name: `name-of-${id}`, response },
});

describe('the turns of a conversation', () => {
  it('has results in the order of their calls, by name, and neighbours of one role as one turn', () => {
    const messages: ConversationMessage[] = [
      { role: 'user', parts: [text('a')] },
      { role: 'user', parts: [text('b'), text('')] },
      { role: 'assistant', parts: [text('Looking.'), call('1', undefined, 's1'), call('2')] },
      result('2', 'it failed', true),
      result('1', '{"t":21}'),
      { role: 'user', parts: [text('And?')] },
    ];
    expect(turns(messages)).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      { role: 'model', parts: [{ text: 'Looking.' }, sentCall('1', 's1'), sentCall('2')] },
      {
        role: 'user',
        parts: [
          sentResult('1', { t: 21 }),
          sentResult('2', { error: 'it failed' }),
          { text: 'And?' },
        ],
      },
    ]);
  });

  it('gives a call of another vendor the placeholder, where calls need a signature', () => {
    const messages: ConversationMessage[] = [
      { role: 'assistant', parts: [call('1'), call('2')] },
      result('1', 'plain'),
      result('2', '[1]'),
    ];
    const answers = [sentResult('1', { result: 'plain' }), sentResult('2', { result: '[1]' })];
    expect(turns(messages)).toEqual([
      { role: 'model', parts: [sentCall('1', 'skip_thought_signature_validator'), sentCall('2')] },
      { role: 'user', parts: answers },
    ]);
    expect(turns(messages, false)[0]).toEqual({
      role: 'model',
      parts: [sentCall('1'), sentCall('2')],
    });
  });

  it('returns a signature with the part after it, and one of another vendor not at all', () => {
    const own = (value: string) =>
      ({ family: 'gemini', value: { thoughtSignature: value } }) as const;
    const foreign = { family: 'messages', value: { thoughtSignature: 'x' } } as const;
    const parts = [
      { type: 'reasoning', text: 'Hm', sealed: foreign },
      { type: 'reasoning', text: '', sealed: own('s1') },
      text('Yes.'),
      { type: 'refusal', text: 'No.' },
      { type: 'reasoning', text: '', sealed: own('s2') },
    ] as const;
    expect(turns([{ role: 'assistant', parts }])).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'Yes.', thoughtSignature: 's1' },
          { text: 'No.' },
          { text: '', thoughtSignature: 's2' },
        ],
      },
    ]);
  });

  it('takes arguments that are no JSON object for none, and a custom text for an input', () => {
    const custom = { ...call('1', '*** x'), kind: 'custom' } as const;
    const parts = turns([{ role: 'assistant', parts: [custom, call('2', '[1]')] }], false)[0]!
      .parts;
    expect(parts).toEqual([
      sentCall('1', undefined, { input: '*** x' }),
      sentCall('2', undefined, {}),
    ]);
  });

  it('keeps the id of a call that is not there, which the vendor refuses by name', () => {
    expect(turns([result('gone', 'x')])[0]!.parts).toEqual([
      { functionResponse: { id: 'gone', name: 'gone', response: { result: 'x' } } },
    ]);
  });

  it('never has an image by its URL', () => {
    const image = { type: 'image', url: 'https://images.example/a.png' } as const;
    expect(() => turns([{ role: 'user', parts: [image] }])).toThrow(ImageWithoutBytesError);
  });
});

describe('the effort of thinking', () => {
  it.each([
    ['gemini-2.5-flash', { reasoningEffort: 'none' }, 0, false],
    ['gemini-2.5-flash', { reasoningEffort: 'low' }, 1_024, true],
    ['gemini-2.5-pro', { reasoningEffort: 'medium' }, 8_192, true],
    ['gemini-2.5-pro', { reasoningEffort: 'max' }, 24_576, true],
    ['gemini-2.5-pro', { thinkingBudgetTokens: 5_000 }, 5_000, true],
  ])('of %s with %j is a budget of %i', (model, settings, thinkingBudget, includeThoughts) => {
    expect(thinkingConfigOf(settings, model)).toEqual({ thinkingBudget, includeThoughts });
  });

  it.each([
    ['gemini-3-pro', { reasoningEffort: 'none' }, 'low', false],
    ['gemini-3-pro', { reasoningEffort: 'minimal' }, 'low', true],
    ['gemini-3.5-flash', { reasoningEffort: 'medium' }, 'medium', true],
    ['some-model', { reasoningEffort: 'xhigh' }, 'high', true],
    ['gemini-20', { thinkingBudgetTokens: 30_000 }, 'high', true],
  ])('of %s with %j is the level %s', (model, settings, thinkingLevel, includeThoughts) => {
    expect(thinkingConfigOf(settings, model)).toEqual({ thinkingLevel, includeThoughts });
  });

  it('is left to the vendor where nothing is said', () => {
    expect(thinkingConfigOf({}, 'gemini-3-pro')).toBeUndefined();
  });
});

describe('usage', () => {
  it('adds thoughts to the output and prompts of tools to the input, never by guessing', () => {
    expect(geminiUsageOf({ usageMetadata: USAGE })).toEqual(COUNTED);
    // A sum of thoughts and tool use that happens to be the count of cached tokens.
    const usage = { ...USAGE, cachedContentTokenCount: 50 };
    expect(geminiUsageOf({ usageMetadata: usage })).toEqual({ ...COUNTED, cachedTokens: 50 });
  });

  it('tells what the total has beyond its parts, and nothing without a prompt', () => {
    const usage = { promptTokenCount: 5, totalTokenCount: 12 };
    expect(geminiUsageOf({ usageMetadata: usage })).toMatchObject({
      promptTokens: 5,
      completionTokens: 0,
      surplusTokens: 7,
    });
    const bad = [{}, { usageMetadata: null }, { usageMetadata: { promptTokenCount: -1 } }];
    expect(bad.map(geminiUsageOf)).toEqual([null, null, null]);
  });
});
