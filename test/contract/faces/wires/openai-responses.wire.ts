import type { Vendor } from '../vendors.js';

let sequence = 0;
const event = (type: string, fields: object = {}) => {
  const data = { type, sequence_number: sequence, ...fields };
  sequence += 1;
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
};
const response = (fields: object) => ({
  id: 'resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b',
  object: 'response',
  created_at: 1_756_315_696,
  status: 'in_progress',
  error: null,
  incomplete_details: null,
  instructions: null,
  model: 'v-2026-01-01',
  output: [],
  parallel_tool_calls: true,
  store: false,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  usage: null,
  metadata: {},
  ...fields,
});
const MESSAGE = 'msg_68af40337e58819392e935fb404414d005438e46b5f69a3b';
const CALL = 'fc_68af4036e8e48193a1e6d2b2f6f8e4c105438e46b5f69a3b';
const text = (said: string) => ({
  type: 'output_text',
  text: said,
  annotations: [],
  logprobs: [],
});
const message = (status: string, content: object[]) => ({
  id: MESSAGE,
  type: 'message',
  status,
  role: 'assistant',
  content,
});
const call = (status: string, args: string) => ({
  id: CALL,
  type: 'function_call',
  status,
  call_id: 'call_9fXb7rLqkG2m',
  name: 'get_weather',
  arguments: args,
});
const inText = { item_id: MESSAGE, output_index: 0, content_index: 0 };
const inCall = { item_id: CALL, output_index: 1 };
const ARGUMENTS = '{"city":"Riga"}';
const whole = response({
  status: 'completed',
  completed_at: 1_756_315_699,
  output: [message('completed', [text('Let me look.')]), call('completed', ARGUMENTS)],
  usage: {
    input_tokens: 20,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 29,
  },
});
const events = [
  event('response.created', { response: response({}) }),
  event('response.in_progress', { response: response({}) }),
  event('response.output_item.added', { output_index: 0, item: message('in_progress', []) }),
  event('response.content_part.added', { ...inText, part: text('') }),
  event('response.output_text.delta', { ...inText, delta: 'Let me ', logprobs: [] }),
  event('response.output_text.delta', {
    ...inText,
    delta: 'look.',
    logprobs: [],
    obfuscation: 'kz3',
  }),
  event('response.output_text.done', { ...inText, text: 'Let me look.', logprobs: [] }),
  event('response.content_part.done', { ...inText, part: text('Let me look.') }),
  event('response.output_item.done', {
    output_index: 0,
    item: message('completed', [text('Let me look.')]),
  }),
  event('response.output_item.added', { output_index: 1, item: call('in_progress', '') }),
  event('response.function_call_arguments.delta', { ...inCall, delta: '{"city":' }),
  event('response.function_call_arguments.delta', { ...inCall, delta: '"Riga"}' }),
  event('response.function_call_arguments.done', {
    ...inCall,
    name: 'get_weather',
    arguments: ARGUMENTS,
  }),
  event('response.output_item.done', { output_index: 1, item: call('completed', ARGUMENTS) }),
  event('response.completed', { response: whole }),
];

/** OpenAI's Responses. */
export const OPENAI_RESPONSES: Vendor = {
  name: 'openai responses',
  protocol: 'openai',
  upstreamProtocol: 'responses',
  basePath: '/v1',
  events,
  wholeAfter: events.length,
  whole,
};
