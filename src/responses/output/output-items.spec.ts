import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../../providers/ports/chat-parts.js';
import { OutputItems } from './output-items.js';

const begin = (index: number, kind: 'function' | 'custom' = 'function'): ChatPart => ({
  type: 'tool-call',
  index,
  id: `call_${index}`,
  kind,
  name: `tool_${index}`,
});
const piece = (index: number, delta: string): ChatPart => ({
  type: 'tool-arguments',
  index,
  delta,
});
const end = (index: number): ChatPart => ({ type: 'tool-end', index });
const text = (said: string): ChatPart => ({ type: 'text', text: said });

/** The events of an answer of these parts, and its items. */
function told(parts: readonly ChatPart[], more: { isCut?: boolean; showsSealed?: boolean } = {}) {
  const events: JsonObject[] = [];
  let ids = 0;
  const terms = {
    newId: () => `0193a5e2-f0c4-7b1d-8e6f-${String((ids += 1)).padStart(12, '0')}`,
    seal: () => 'sealed',
    showsSealed: more.showsSealed ?? false,
    showsLogprobs: false,
  };
  const output = new OutputItems(terms, (type, fields) => events.push({ type, ...fields }));
  for (const part of parts) output.add(part);
  output.end(more.isCut ?? false);
  return { events, items: output.finished, stored: output.stored, output };
}
const short = (events: readonly JsonObject[]) =>
  events.map(({ type, output_index: at, delta }) =>
    [(type as string).replace('response.', ''), at, ...(delta === undefined ? [] : [delta])].join(
      ' ',
    ),
  );

describe('the items of an answer', () => {
  it('are open one at a time: calls whose pieces come by turns are told one after the other', () => {
    const parts = [
      begin(0),
      begin(1),
      piece(1, '{"b"'),
      piece(0, '{"a"'),
      piece(1, ':2}'),
      piece(0, ':1}'),
    ];
    const { events, items } = told([...parts, end(1), end(0)]);
    expect(short(events)).toEqual([
      'output_item.added 0',
      'function_call_arguments.delta 0 {"a"',
      'function_call_arguments.delta 0 :1}',
      'function_call_arguments.done 0',
      'output_item.done 0',
      'output_item.added 1',
      'function_call_arguments.delta 1 {"b":2}',
      'function_call_arguments.done 1',
      'output_item.done 1',
    ]);
    expect(items.map(({ arguments: args }) => args)).toEqual(['{"a":1}', '{"b":2}']);
  });

  it('end where another kind begins: reasoning, a text, a call', () => {
    const { events, items } = told([
      { type: 'reasoning', text: 'Hm' },
      { type: 'reasoning', text: 'm.' },
      text('Let me '),
      text('look.'),
      begin(0),
      piece(0, '{}'),
    ]);
    expect(items).toMatchObject([
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hmm.' }], summary: [] },
      { type: 'message', content: [{ text: 'Let me look.' }], status: 'completed' },
      { type: 'function_call', arguments: '{}', status: 'completed' },
    ]);
    const added = events.filter(({ type }) => type === 'response.output_item.added');
    expect(added.map(({ output_index: at }) => at)).toEqual([0, 1, 2]);
  });

  it('have a refusal as a part of its own', () => {
    const { items, events } = told([text('I '), { type: 'refusal', text: 'cannot.' }]);
    expect(items).toMatchObject([
      {
        content: [
          { type: 'output_text', text: 'I ' },
          { type: 'refusal', refusal: 'cannot.' },
        ],
      },
    ]);
    expect(short(events)).toContain('refusal.delta 0 cannot.');
  });

  it('have arguments that are JSON where a function has none, and none where a custom tool has none', () => {
    const { items } = told([begin(0), end(0), begin(1, 'custom'), end(1)]);
    expect(items).toMatchObject([{ arguments: '{}' }, { input: '' }]);
  });

  it('keep a sealed part for the store, and show it only where it is wanted', () => {
    const parts: ChatPart[] = [
      { type: 'reasoning', text: 'Hm' },
      { type: 'reasoning-sealed', family: 'messages', value: { signature: 's' } },
    ];
    expect(told(parts).items).toMatchObject([{ encrypted_content: null }]);
    expect(told(parts).stored).toMatchObject([{ encrypted_content: 'sealed' }]);
    expect(told(parts, { showsSealed: true }).items).toMatchObject([
      { encrypted_content: 'sealed' },
    ]);
  });

  it('that were cut are incomplete, the last one alone', () => {
    const { items, output } = told(
      [text('one'), begin(0), piece(0, '{"a'), { type: 'finish', reason: 'length' }],
      { isCut: true },
    );
    expect(items.map(({ status }) => status)).toEqual(['completed', 'incomplete']);
    expect(output.finishReason).toBe('length');
  });
});
