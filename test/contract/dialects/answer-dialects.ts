import { delta, type Dialect, DONE, says, STOP, wholeAnswer } from './dialect.js';

const call = (name: string | undefined, given: unknown, more: object = {}) =>
  delta({ tool_calls: [{ function: { name, arguments: given }, ...more }] });
const CALLED = delta({}, { finish_reason: 'tool_calls' });
const TWO_CALLS = [
  ['call_a', 'f', '{"a":1}'],
  ['call_b', 'g', '{"b":2}'],
] as const;

const ROLES: readonly Dialect[] = [undefined, null, '', 'model'].map((role) => ({
  kind: 'roles',
  what: `role ${role === undefined ? 'absent' : JSON.stringify(role)} in every chunk`,
  events: [delta({ role, content: 'a' }), delta({ role, content: 'b' }), STOP, DONE],
  answer: wholeAnswer({ role, content: 'ab' }),
  wanted: { text: 'ab', reason: 'stop' },
}));

const INDICES: readonly Dialect[] = [
  {
    kind: 'indices',
    what: 'calls without an index',
    events: [
      call('f', '{"a":1}', { id: 'call_a' }),
      call('g', '{"b":2}', { id: 'call_b' }),
      CALLED,
      DONE,
    ],
    wanted: { calls: TWO_CALLS, reason: 'tool_calls' },
  },
  {
    kind: 'indices',
    what: 'calls with index 0 each',
    events: [
      call('f', '{"a":1}', { id: 'call_a', index: 0 }),
      call('g', '{"b"', { id: 'call_b', index: 0 }),
      call(undefined, ':2}', { index: 0 }),
      CALLED,
      DONE,
    ],
    wanted: { calls: TWO_CALLS, reason: 'tool_calls' },
  },
  {
    kind: 'indices',
    what: 'arguments as an object',
    events: [call('f', { a: 1 }, { id: 'call_a', index: 0 }), CALLED, DONE],
    answer: wholeAnswer(
      {
        content: null,
        tool_calls: [{ id: 'call_a', function: { name: 'f', arguments: { a: 1 } } }],
      },
      { finish_reason: null },
    ),
    wanted: { calls: [TWO_CALLS[0]], reason: 'tool_calls' },
  },
];

const THOUGHT = 'First I think about it.';
const REASONING: readonly Dialect[] = [
  ...[{ reasoning: THOUGHT }, { reasoning_content: THOUGHT }].map((thought): Dialect => ({
    kind: 'reasoning',
    what: `under ${Object.keys(thought).join()}, without a usage: counted`,
    events: [delta(thought), says('Hi'), STOP, DONE],
    answer: wholeAnswer({ content: 'Hi', ...thought }),
    wanted: { text: 'Hi', reasoning: THOUGHT, usage: [7, 7] },
  })),
  {
    kind: 'reasoning',
    what: 'under two names at once, without a usage: counted once (OpenRouter)',
    events: [
      delta({ reasoning: THOUGHT, reasoning_details: [{ type: 'reasoning.text', text: THOUGHT }] }),
      says('Hi'),
      STOP,
      DONE,
    ],
    wanted: { text: 'Hi', reasoning: THOUGHT, usage: [7, 7] },
  },
  {
    kind: 'reasoning',
    what: 'as parts of content, without a usage: counted (Mistral)',
    events: [
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: THOUGHT }] }] }),
      delta({ content: [{ type: 'text', text: 'Hi' }] }),
      STOP,
      DONE,
    ],
    wanted: { text: 'Hi', reasoning: THOUGHT, usage: [7, 7] },
  },
];

const ENDS: readonly Dialect[] = [
  ...['', null, undefined].map((reason): Dialect => ({
    kind: 'ends',
    what: `finish_reason ${reason === undefined ? 'absent' : JSON.stringify(reason)} to the end`,
    events: [
      delta({ content: 'Hi' }, { finish_reason: reason }),
      delta({}, { finish_reason: reason }),
      DONE,
    ],
    answer: wholeAnswer({ content: 'Hi' }, { finish_reason: reason }),
    wanted: { text: 'Hi', reason: 'stop' },
  })),
  {
    kind: 'ends',
    what: 'no reason where tools are called',
    events: [call('f', '{"a":1}', { id: 'call_a', index: 0 }), DONE],
    wanted: { calls: [TWO_CALLS[0]], reason: 'tool_calls' },
  },
  {
    kind: 'ends',
    what: 'another word for the reason (Gemini)',
    events: [says('Hi'), delta({}, { finish_reason: 'MAX_TOKENS' }), DONE],
    answer: wholeAnswer({ content: 'Hi' }, { finish_reason: 'MAX_TOKENS' }),
    wanted: { text: 'Hi', reason: 'length' },
  },
  {
    kind: 'ends',
    what: 'no [DONE]',
    events: [says('Hi'), STOP],
    wanted: { text: 'Hi', reason: 'stop' },
  },
];

/** Roles, indices, reasoning and ends. */
export const ANSWER_DIALECTS: readonly Dialect[] = [...ROLES, ...INDICES, ...REASONING, ...ENDS];
