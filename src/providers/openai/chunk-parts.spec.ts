import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../ports/chat-parts.js';
import { OpenAiChunkReader } from './openai-chunk-reader.js';
import { ChunkParts } from './chunk-parts.js';

const chunk = (delta: object, finish_reason: string | null = null): JsonObject => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const piece = (fields: object) => chunk({ tool_calls: [fields] });

/** The parts of a stream of these chunks that then says `[DONE]`. */
function partsOf(...chunks: JsonObject[]): ChatPart[] {
  const reader = new OpenAiChunkReader(new ChunkParts());
  const parts = chunks.flatMap((each) => reader.read(each)?.parts ?? []);
  return [...parts, ...(reader.rest()?.parts ?? [])];
}
const begun = (index: number, id: string, name = 'f', kind = 'function') =>
  ({ type: 'tool-call', index, id, kind, name }) as ChatPart;
const said = (index: number, delta: string): ChatPart => ({ type: 'tool-arguments', index, delta });
const ended = (index: number): ChatPart => ({ type: 'tool-end', index });

describe('chunks in parts', () => {
  it('are reasoning, text and refusals under every name that vendors use', () => {
    const parts = partsOf(
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'a' }),
      chunk({ reasoning: 'b' }),
      chunk({
        content: [
          { type: 'thinking', thinking: 'c' },
          { type: 'text', text: 'd' },
        ],
      }),
      chunk({ content: 'e' }),
      chunk({ refusal: 'f' }, 'stop'),
    );
    expect(parts).toEqual([
      { type: 'reasoning', text: 'a' },
      { type: 'reasoning', text: 'b' },
      { type: 'reasoning', text: 'c' },
      { type: 'text', text: 'd' },
      { type: 'text', text: 'e' },
      { type: 'refusal', text: 'f' },
      { type: 'finish', reason: 'stop' },
    ]);
  });

  it('end a call when the next one begins', () => {
    const parts = partsOf(
      piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }),
      piece({ index: 0, function: { arguments: ':1}' } }),
      piece({ index: 1, id: 'b', type: 'custom', custom: { name: 'g', input: 'in' } }),
      chunk({}, 'tool_calls'),
    );
    expect(parts).toEqual([
      begun(0, 'a'),
      said(0, '{"x"'),
      said(0, ':1}'),
      ended(0),
      begun(1, 'b', 'g', 'custom'),
      said(1, 'in'),
      ended(1),
      { type: 'finish', reason: 'tool_calls' },
    ]);
  });

  it('keep a call open whose arguments are not whole when the next one begins', () => {
    const parts = partsOf(
      piece({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }),
      piece({ index: 1, id: 'b', function: { name: 'f', arguments: '{}' } }),
      piece({ index: 0, function: { arguments: ':1}' } }),
      chunk({}, 'tool_calls'),
    );
    expect(parts.filter(({ type }) => type === 'tool-end')).toEqual([ended(0), ended(1)]);
    expect(parts.indexOf(said(0, ':1}'))).toBeLessThan(
      parts.findIndex(({ type }) => type === 'tool-end'),
    );
  });

  it('have a finish where the vendor sent none: tool_calls where there are calls, else stop (G-24)', () => {
    expect(partsOf(chunk({ content: 'a' })).at(-1)).toEqual({ type: 'finish', reason: 'stop' });
    const calls = partsOf(piece({ id: 'a', function: { name: 'f', arguments: '{}' } }));
    expect(calls.slice(-2)).toEqual([ended(0), { type: 'finish', reason: 'tool_calls' }]);
  });

  it('pass arguments that are no JSON as they are', () => {
    const parts = partsOf(
      piece({ id: 'a', function: { name: 'f', arguments: 'oops' } }),
      chunk({}, 'tool_calls'),
    );
    expect(parts).toContainEqual(said(0, 'oops'));
  });

  it('are nothing before the answer, also with a usage', () => {
    const reader = new OpenAiChunkReader(new ChunkParts());
    expect(
      reader.read({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }),
    ).toBeNull();
    expect(reader.read(chunk({ role: 'assistant' }))).toBeNull();
    expect(reader.rest()?.parts).toEqual([{ type: 'finish', reason: 'stop' }]);
  });
});
