import type { Vendor } from '../vendors.js';

const event = (type: string, fields: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const delta = (index: number, fields: object) =>
  event('content_block_delta', { index, delta: fields });
const begin = (index: number, content_block: object) =>
  event('content_block_start', { index, content_block });
const end = (index: number) => event('content_block_stop', { index });

const usage = (output_tokens: number) => ({
  input_tokens: 20,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens,
  service_tier: 'standard',
});
const message = (fields: object) => ({
  id: 'msg_01V',
  type: 'message',
  role: 'assistant',
  model: 'v-20260101',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  ...fields,
});
const tool = { type: 'tool_use', id: 'toolu_01V', name: 'get_weather' };

/** The reason and the usage in two events, as some vendors of the protocol send them, and then the end. */
export const REASON_THEN_USAGE = [
  event('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null } }),
  event('message_delta', { delta: {}, usage: { output_tokens: 9 } }),
  event('message_stop'),
] as const;

/** Ends that tell no count of the output, of which the first event has a placeholder. */
export const UNCOUNTED_ENDS = [
  { what: 'no usage', usage: undefined },
  { what: 'a usage of the prompt alone', usage: { input_tokens: 20 } },
  { what: 'a usage of zero', usage: { output_tokens: 0 } },
].map(({ what, usage }) => ({
  what,
  end: event('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage }),
}));

/** Anthropic's Messages. */
export const ANTHROPIC: Vendor = {
  name: 'anthropic',
  protocol: 'anthropic',
  basePath: '',
  events: [
    event('message_start', { message: message({ usage: usage(1) }) }),
    begin(0, { type: 'text', text: '' }),
    event('ping'),
    delta(0, { type: 'text_delta', text: 'Let me ' }),
    delta(0, { type: 'text_delta', text: 'look.' }),
    end(0),
    begin(1, { ...tool, input: {} }),
    delta(1, { type: 'input_json_delta', partial_json: '' }),
    delta(1, { type: 'input_json_delta', partial_json: '{"city":' }),
    delta(1, { type: 'input_json_delta', partial_json: ' "Riga"}' }),
    end(1),
    event('message_delta', {
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 9 },
    }),
    event('message_stop'),
  ],
  wholeAfter: 12,
  whole: message({
    content: [
      { type: 'text', text: 'Let me look.' },
      { ...tool, input: { city: 'Riga' } },
    ],
    stop_reason: 'tool_use',
    usage: usage(9),
  }),
};
