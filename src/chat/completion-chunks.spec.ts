import { describe, expect, it } from '@jest/globals';
import { UnusableAnswer } from '../providers/ports/unusable-answer.js';
import { CompletionChunks } from './completion-chunks.js';

const HEAD = { id: 'c', created: 1, model: 'm' };

interface Shown {
  readonly index: number;
  readonly delta: { role?: string; tool_calls?: readonly CallPiece[] };
  readonly finish_reason: string | null;
}
interface CallPiece {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

/** What the caller gets of each chunk, whose choices are given. */
const shownOf = (...chunks: object[][]): Shown[] => {
  const answer = new CompletionChunks();
  return chunks.flatMap((choices) => answer.chunkOf(HEAD, choices as never).choices as Shown[]);
};
const piece = (name: string | undefined, given: unknown, more: object = {}) => ({
  function: { ...(name !== undefined && { name }), arguments: given },
  ...more,
});
/** The calls that a client puts together from deltas, each of which has these pieces. */
function callsOf(...deltas: object[][]) {
  const chunks = deltas.map((calls) => [{ index: 0, delta: { tool_calls: calls } }]);
  const calls: { id?: string; type?: string; name: string; given: string }[] = [];
  for (const { delta } of shownOf(...chunks)) {
    for (const { index, id, type, function: called } of delta.tool_calls ?? []) {
      const call = (calls[index] ??= { name: '', given: '' });
      if (id !== undefined) call.id = id;
      if (type !== undefined) call.type = type;
      call.name += called?.name ?? '';
      call.given += called?.arguments ?? '';
    }
  }
  return calls;
}

describe('the role', () => {
  it.each([{}, { role: null }, { role: '' }, { role: 'model' }, { role: 'assistant' }])(
    'is on the first chunk of each choice and nowhere else, where the provider sends %j',
    (sent) => {
      const chunk = (index: number) => [{ index, delta: { ...sent, content: 'a' } }];
      const roles = shownOf(chunk(0), chunk(0), chunk(1), chunk(1)).map(({ delta }) => delta.role);
      expect(roles).toEqual(['assistant', undefined, 'assistant', undefined]);
    },
  );
});

describe('the calls of tools', () => {
  const both = [
    { id: 'call_a', type: 'function', name: 'f', given: '{"a":1}' },
    { id: 'call_b', type: 'function', name: 'g', given: '{"b":2}' },
  ];

  it.each<[string, object[][]]>([
    [
      'whose index is 0 for all of them',
      [
        [piece('f', '{"a":1}', { index: 0, id: 'call_a' })],
        [piece('g', '{"b"', { index: 0, id: 'call_b' })],
        [piece(undefined, ':2}', { index: 0 })],
      ],
    ],
    [
      'without an index',
      [
        [piece('f', '{"a"', { id: 'call_a' })],
        [piece(undefined, ':1}', { id: '' })],
        [piece('g', '{"b"', { id: 'call_b' })],
        [piece(undefined, ':2}')],
      ],
    ],
    [
      'in one delta without an index',
      [[piece('f', '{"a":1}', { id: 'call_a' }), piece('g', '{"b":2}', { id: 'call_b' })]],
    ],
    [
      'whose pieces repeat the id and the name',
      [
        [piece('f', '{"a"', { index: 0, id: 'call_a' })],
        [piece(undefined, ':1}', { index: 0, id: 'call_a' })],
        [piece('g', '{"b":2}', { index: 1, id: 'call_b' })],
      ],
    ],
    [
      'whose pieces have a new id each',
      [
        [piece('f', '{"a"', { index: 0, id: 'call_a' })],
        [piece(undefined, ':1}', { index: 0, id: 'x1' })],
        [piece('g', '{"b"', { index: 1, id: 'call_b' })],
        [piece(undefined, ':2}', { index: 1, id: 'x2' })],
      ],
    ],
    [
      'whose pieces come in turns',
      [
        [
          piece('f', '{"a"', { index: 0, id: 'call_a' }),
          piece('g', '', { index: 1, id: 'call_b' }),
        ],
        [piece(undefined, '{"b":2}', { index: 1 }), piece(undefined, ':1}', { index: 0 })],
      ],
    ],
    [
      'whose arguments are objects',
      [
        [piece('f', { a: 1 }, { index: 0, id: 'call_a' })],
        [piece('g', { b: 2 }, { index: 1, id: 'call_b' })],
      ],
    ],
  ])('%s add up to the same', (_how, deltas) => {
    expect(callsOf(...deltas)).toEqual(both);
  });

  it('without ids are distinguished by name, and get generated ids', () => {
    const calls = callsOf([piece('f', '{"a":1}'), piece('g', '{"b":2}')], [piece('f', '{"a":3}')]);
    expect(calls.map(({ name, given }) => [name, given])).toEqual([
      ['f', '{"a":1}'],
      ['g', '{"b":2}'],
      ['f', '{"a":3}'],
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
  });

  it('are at most 1,024 in one choice, and further deltas of one call create no call', () => {
    const answer = new CompletionChunks();
    const shown = (calls: object[]) =>
      answer.chunkOf(HEAD, [{ index: 0, delta: { tool_calls: calls } }]);
    shown(Array.from({ length: 1_024 }, (_, place) => piece('f', '', { id: `call_${place}` })));
    shown(
      Array.from({ length: 1_024 }, (_, place) => piece(undefined, '{}', { id: `call_${place}` })),
    );
    expect(() => shown([piece('f', '', { id: 'call_1024' })])).toThrow(UnusableAnswer);
  });

  it('keep their signature and lose the fields of the vendor', () => {
    const extra_content = { google: { thought_signature: 'sig' } };
    const [choice] = shownOf([
      { delta: { tool_calls: [{ ...piece('f', '{}', { id: 'a' }), extra_content, vendor: 1 }] } },
    ]);
    expect(choice?.delta.tool_calls).toEqual([
      {
        index: 0,
        id: 'a',
        type: 'function',
        function: { name: 'f', arguments: '{}' },
        extra_content,
      },
    ]);
  });
});

describe('the reason to end', () => {
  it.each(['', null, undefined, 'null', 5])('is null while the provider says %j', (reason) => {
    const [shown] = shownOf([{ delta: { content: 'a' }, finish_reason: reason }]);
    expect(shown?.finish_reason).toBe(null);
  });

  it('is added at the end if the provider sent none, depending on whether tools were called', () => {
    const answer = new CompletionChunks();
    const calls = [piece('f', '{}', { id: 'a' })];
    answer.chunkOf(HEAD, [
      { index: 0, delta: { content: 'a' } },
      { index: 1, delta: { tool_calls: calls } },
      { index: 2, delta: {}, finish_reason: 'length' },
    ]);
    expect(answer.endOf(HEAD)?.choices).toEqual([
      { index: 0, delta: {}, finish_reason: 'stop' },
      { index: 1, delta: {}, finish_reason: 'tool_calls' },
    ]);
  });

  it('is not added if the provider sent one', () => {
    const answer = new CompletionChunks();
    answer.chunkOf(HEAD, [{ index: 0, delta: {}, finish_reason: 'stop' }]);
    expect(answer.endOf(HEAD)).toBe(undefined);
  });
});
