import type { JsonObject } from '../../src/common/json-object.js';

/** Answers as OpenAI's public reference of the Responses API and its streaming events show them. */

/** The usage of a response whose prompt was partly cached. */
export const RESPONSE_USAGE = {
  input_tokens: 4_321,
  input_tokens_details: { cached_tokens: 4_000, cache_write_tokens: 100 },
  output_tokens: 90,
  output_tokens_details: { reasoning_tokens: 60 },
  total_tokens: 4_411,
};
/** What the gateway makes of it. */
export const RESPONSE_TOKENS = {
  promptTokens: 4_321,
  completionTokens: 90,
  cachedTokens: 4_000,
  cacheWriteTokens: 100,
  cacheWrite1hTokens: 0,
  reasoningTokens: 60,
};

const REASONING = 'rs_0f2a9c7d1b';
const MESSAGE = 'msg_0f2a9c7d1b';
const CALL = 'fc_0f2a9c7d1b';
const PATCH = 'ctc_0f2a9c7d1b';
export const ENCRYPTED = 'gAAAAABpJ3v1k0-encrypted';
const summaryText = (text: string) => ({ type: 'summary_text', text });
const outputText = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

const reasoning = {
  id: REASONING,
  type: 'reasoning',
  summary: [summaryText('**Looking up**'), summaryText('I call a tool.')],
  encrypted_content: ENCRYPTED,
};
const message = {
  id: MESSAGE,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  phase: 'commentary',
  content: [outputText('Hé 👋')],
};
const call = {
  id: CALL,
  type: 'function_call',
  status: 'completed',
  call_id: 'call_1',
  name: 'get_weather',
  arguments: '{"city":"Graz"}',
};
const patch = {
  id: PATCH,
  type: 'custom_tool_call',
  status: 'completed',
  call_id: 'call_2',
  name: 'patch',
  input: '*** Begin',
};
const novelty = {
  id: 'nov_1',
  type: 'novelty',
  status: 'completed',
  call_id: 'nov_call_1',
  data: { a: [1] },
};

/** A response with the fields that the reference has. */
export function response(fields: object): JsonObject {
  return {
    id: 'resp_0f2a9c7d1b',
    object: 'response',
    created_at: 1_756_315_696,
    status: 'completed',
    background: false,
    billing: { payer: 'developer' },
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: 300,
    model: 'gpt-5-2025-08-07',
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: 'medium', summary: 'detailed' },
    service_tier: 'default',
    store: false,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: {},
    ...fields,
  };
}

/** A whole response with an item of each kind, and one of a kind that nobody knows. */
export const RESPONSE = response({
  output: [reasoning, message, novelty, call, patch],
  usage: RESPONSE_USAGE,
});
/** The same in neutral parts. */
export const RESPONSE_PARTS = [
  { type: 'reasoning', text: '**Looking up**\n\nI call a tool.' },
  {
    type: 'reasoning-sealed',
    family: 'responses',
    value: {
      id: REASONING,
      summary: ['**Looking up**', 'I call a tool.'],
      encrypted_content: ENCRYPTED,
    },
  },
  { type: 'text', text: 'Hé 👋' },
  { type: 'tool-call', index: 0, id: 'call_1', kind: 'function', name: 'get_weather' },
  { type: 'tool-arguments', index: 0, delta: '{"city":"Graz"}' },
  { type: 'tool-end', index: 0 },
  { type: 'tool-call', index: 1, id: 'call_2', kind: 'custom', name: 'patch' },
  { type: 'tool-arguments', index: 1, delta: '*** Begin' },
  { type: 'tool-end', index: 1 },
  { type: 'finish', reason: 'tool_calls' },
];

const thought = { item_id: REASONING, output_index: 0 };
const said = { item_id: MESSAGE, output_index: 1, content_index: 0 };
const called = { item_id: CALL, output_index: 3 };
const patched = { item_id: PATCH, output_index: 4 };
const added = (output_index: number, item: object) => ({
  type: 'response.output_item.added',
  output_index,
  item,
});
const done = (output_index: number, item: object) => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
const summaryPart = (name: 'added' | 'done', summary_index: number, text: string) => ({
  type: `response.reasoning_summary_part.${name}`,
  ...thought,
  summary_index,
  part: summaryText(text),
});
const summaryDelta = (summary_index: number, delta: string) => ({
  type: 'response.reasoning_summary_text.delta',
  ...thought,
  summary_index,
  delta,
});

/** The same response as a stream. */
export const RESPONSE_EVENTS: readonly JsonObject[] = [
  { type: 'response.created', response: response({ status: 'in_progress' }) },
  { type: 'response.in_progress', response: response({ status: 'in_progress' }) },
  added(0, { ...reasoning, summary: [], encrypted_content: 'gAAAAABpJ3' }),
  summaryPart('added', 0, ''),
  summaryDelta(0, '**Looking up**'),
  summaryPart('done', 0, '**Looking up**'),
  summaryPart('added', 1, ''),
  summaryDelta(1, 'I call '),
  summaryDelta(1, 'a tool.'),
  summaryPart('done', 1, 'I call a tool.'),
  done(0, reasoning),
  added(1, { ...message, status: 'in_progress', content: [] }),
  { type: 'response.content_part.added', ...said, part: outputText('') },
  { type: 'response.output_text.delta', ...said, delta: 'Hé ', logprobs: [], obfuscation: 'x1' },
  { type: 'response.output_text.delta', ...said, delta: '👋', logprobs: [], obfuscation: 'y22' },
  { type: 'response.output_text.done', ...said, text: 'Hé 👋', logprobs: [] },
  { type: 'response.content_part.done', ...said, part: outputText('Hé 👋') },
  done(1, message),
  added(2, { ...novelty, status: 'in_progress' }),
  { type: 'response.novelty.progress', item_id: 'nov_1', output_index: 2, part: { share: 0.5 } },
  done(2, novelty),
  added(3, { ...call, status: 'in_progress', arguments: '' }),
  { type: 'response.function_call_arguments.delta', ...called, delta: '{"city":' },
  { type: 'response.function_call_arguments.delta', ...called, delta: '"Graz"}' },
  {
    type: 'response.function_call_arguments.done',
    ...called,
    name: 'get_weather',
    arguments: '{"city":"Graz"}',
  },
  done(3, call),
  added(4, { ...patch, status: 'in_progress', input: '' }),
  { type: 'response.custom_tool_call_input.delta', ...patched, delta: '*** Begin' },
  { type: 'response.custom_tool_call_input.done', ...patched, input: '*** Begin' },
  done(4, patch),
  { type: 'response.completed', response: RESPONSE },
].map((event, sequence_number) => ({ ...event, sequence_number }));

/** The same without the item of a kind that nobody knows. */
export const KNOWN_RESPONSE_EVENTS: readonly JsonObject[] = RESPONSE_EVENTS.filter(
  ({ output_index: index }) => index !== 2,
).map(renumbered);

function renumbered(event: JsonObject): JsonObject {
  const { output_index: index } = event;
  if (event.type === 'response.completed') {
    const { output } = RESPONSE as { output: readonly JsonObject[] };
    return {
      ...event,
      response: response({ output: output.filter(({ type }) => type !== 'novelty') }),
    };
  }
  return typeof index === 'number' && index > 2 ? { ...event, output_index: index - 1 } : event;
}

/** Events as the vendor writes them. */
export function responseBytes(events: readonly JsonObject[]): Buffer {
  return Buffer.from(
    events
      .map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  );
}
