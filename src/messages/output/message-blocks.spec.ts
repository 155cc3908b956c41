import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../../providers/ports/chat-parts.js';
import type { FinishReason } from '../../providers/ports/finish-reason.js';
import { MessageBlocks } from './message-blocks.js';

const text = (says: string): ChatPart => ({ type: 'text', text: says });
const thought = (says: string): ChatPart => ({ type: 'reasoning', text: says });
const call = (index: number): ChatPart => ({
  type: 'tool-call',
  index,
  id: `call_${index}`,
  kind: 'function',
  name: 'write',
});
const args = (index: number, delta: string): ChatPart => ({ type: 'tool-arguments', index, delta });
const endOf = (index: number): ChatPart => ({ type: 'tool-end', index });
const finish = (reason: FinishReason): ChatPart => ({ type: 'finish', reason });

/** The blocks of the parts, and their events in short. */
function made(...parts: readonly ChatPart[]) {
  const events: string[] = [];
  const blocks = new MessageBlocks((type, { index, content_block: head, delta }) => {
    const { type: what } = (head ?? delta ?? {}) as JsonObject;
    events.push([type.replace('content_block_', ''), index, what].filter(isTold).join(' '));
  });
  for (const part of parts) blocks.add([part]);
  blocks.end();
  return { blocks, events, finished: blocks.finished };
}
const isTold = (value: unknown): boolean => value !== undefined;

describe('the blocks of a message', () => {
  it('are one for each run of the same kind, and one is open at a time', () => {
    const { finished, events } = made(thought('Hm'), thought('m'), text('Hello'), text(' you'));
    expect(finished).toEqual([
      { type: 'thinking', thinking: 'Hmm', signature: '' },
      { type: 'text', text: 'Hello you', citations: null },
    ]);
    expect(events).toEqual([
      'start 0 thinking',
      ...['delta 0 thinking_delta', 'delta 0 thinking_delta', 'delta 0 signature_delta'],
      'stop 0',
      'start 1 text',
      ...['delta 1 text_delta', 'delta 1 text_delta'],
      'stop 1',
    ]);
  });

  it('are none for texts that are empty', () => {
    expect(made(text(''), thought(''), finish('stop'))).toMatchObject({ finished: [], events: [] });
  });

  it('have calls with their input as an object, in pieces while they are made', () => {
    const { finished, events } = made(call(0), args(0, '{"a"'), args(0, ':1}'), endOf(0));
    expect(finished).toEqual([{ type: 'tool_use', id: 'call_0', name: 'write', input: { a: 1 } }]);
    expect(events).toEqual([
      'start 0 tool_use',
      ...['delta 0 input_json_delta', 'delta 0 input_json_delta'],
      'stop 0',
    ]);
  });

  it('have an empty input where a call has no arguments', () => {
    const { finished, blocks } = made(call(0), endOf(0), finish('tool_calls'));
    expect(finished).toMatchObject([{ input: {} }]);
    expect(blocks.isMalformed).toBe(false);
  });

  it('tell calls that come by turns one after the other', () => {
    const parts = [call(0), call(1), args(1, '{"b":2}'), args(0, '{"a":1}'), endOf(0), endOf(1)];
    const { finished, events } = made(...parts);
    expect(finished).toMatchObject([{ input: { a: 1 } }, { input: { b: 2 } }]);
    const indices = events.map((event) => Number(event.split(' ')[1]));
    expect(indices).toEqual([...indices].sort());
  });

  it('keep a text that comes within a call until the call has ended', () => {
    const { finished } = made(call(0), text('meanwhile'), args(0, '{}'), endOf(0), text('!'));
    expect(finished).toMatchObject([{ type: 'tool_use' }, { type: 'text', text: 'meanwhile!' }]);
  });

  it('lose nothing of an answer that stops within a call', () => {
    const { finished, events } = made(call(0), text('meanwhile'), args(0, '{"a'));
    expect(finished).toMatchObject([
      { type: 'tool_use', input: {} },
      { type: 'text', text: 'meanwhile' },
    ]);
    expect(events.filter((event) => event.startsWith('stop'))).toEqual(['stop 0', 'stop 1']);
  });

  it('have no sealed parts of vendors of other protocols', () => {
    const sealed: ChatPart = { type: 'reasoning-sealed', family: 'gemini', value: { text: 'x' } };
    expect(made(sealed).finished).toEqual([]);
  });
});

describe('the end of a message', () => {
  it.each<[FinishReason, string]>([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['tool_calls', 'tool_use'],
    ['function_call', 'tool_use'],
    ['content_filter', 'refusal'],
  ])('is told in the words of this protocol: %s', (reason, word) => {
    const { blocks } = made(text('Hi'), finish(reason), finish('length'));
    expect(blocks.ending).toEqual({ stop_reason: word, stop_sequence: null });
  });

  it('names the text at which it stopped', () => {
    const { blocks } = made(text('Hi'), { type: 'finish', reason: 'stop', stopSequence: 'END' });
    expect(blocks.ending).toEqual({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
  });

  it('is a refusal where the model refused in words', () => {
    const { blocks, finished } = made({ type: 'refusal', text: 'I cannot' }, finish('stop'));
    expect(finished).toMatchObject([{ type: 'text', text: 'I cannot' }]);
    expect(blocks.ending.stop_reason).toBe('refusal');
  });

  it.each<[string, FinishReason, boolean]>([
    ['{"a', 'tool_calls', true],
    ['[1]', 'tool_calls', true],
    ['{"a', 'length', false],
    ['{"a', 'content_filter', false],
    ['{"a":1}', 'tool_calls', false],
  ])('tells arguments that are no object, unless it was cut: %s, %s', (written, reason, is) => {
    const { blocks } = made(call(0), args(0, written), endOf(0), finish(reason));
    expect(blocks.isMalformed).toBe(is);
  });
});
