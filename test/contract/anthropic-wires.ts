import type { ChatCommand, ChatEvent } from '../../src/providers/ports/chat.port.js';
import type { Conversation } from '../../src/providers/ports/conversation.js';

/** One event of a stream, as the vendor writes it. */
export function wireEvent(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The usage of a message whose prompt was partly cached, with the lines that exclude each other. */
export const MESSAGE_USAGE = {
  input_tokens: 21,
  cache_creation_input_tokens: 300,
  cache_read_input_tokens: 4_000,
  cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
  output_tokens: 90,
  output_tokens_details: { thinking_tokens: 60 },
  server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
  service_tier: 'standard',
  inference_geo: 'us',
};
/** What the gateway makes of it. */
export const TOKENS = {
  promptTokens: 4_321,
  completionTokens: 90,
  cachedTokens: 4_000,
  cacheWriteTokens: 100,
  cacheWrite1hTokens: 200,
  reasoningTokens: 60,
};

/** What the first event tells of the prompt. */
export const TOLD_TOKENS = { ...TOKENS, completionTokens: 0, reasoningTokens: null };

/** A whole message with a block of each kind, and one of a kind that nobody knows. */
export const MESSAGE = {
  id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content: [
    { type: 'thinking', thinking: 'Let me look.', signature: 'EqQBCgIYAhIM' },
    { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' },
    { type: 'text', text: 'I look it up. ', citations: null },
    { type: 'server_novelty', data: { a: [1] } },
    {
      type: 'tool_use',
      id: 'toolu_01A09q90qw90lq917835lq9',
      name: 'get_weather',
      input: { city: 'Graz' },
      caller: { type: 'direct' },
    },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  stop_details: null,
  container: null,
  usage: MESSAGE_USAGE,
};
const [thinking, redacted] = MESSAGE.content;
/** The same in neutral parts. */
export const MESSAGE_PARTS = [
  { type: 'reasoning', text: 'Let me look.' },
  { type: 'reasoning-sealed', family: 'messages', value: thinking },
  { type: 'reasoning-sealed', family: 'messages', value: redacted },
  { type: 'text', text: 'I look it up. ' },
  {
    type: 'tool-call',
    index: 0,
    id: 'toolu_01A09q90qw90lq917835lq9',
    kind: 'function',
    name: 'get_weather',
  },
  { type: 'tool-arguments', index: 0, delta: '{"city":"Graz"}' },
  { type: 'tool-end', index: 0 },
  { type: 'finish', reason: 'tool_calls' },
];

const delta = (index: number, fields: object) => ({
  type: 'content_block_delta',
  index,
  delta: fields,
});
const begin = (index: number, block: object) => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
const end = (index: number) => ({ type: 'content_block_stop', index });

/** The same message as events, with a ping and an event that nobody knows. */
export const MESSAGE_EVENTS = [
  {
    type: 'message_start',
    message: {
      ...MESSAGE,
      content: [],
      stop_reason: null,
      usage: { ...MESSAGE_USAGE, output_tokens: 3, output_tokens_details: null },
    },
  },
  begin(0, { type: 'thinking', thinking: '', signature: '' }),
  { type: 'ping' },
  delta(0, { type: 'thinking_delta', thinking: 'Let me' }),
  delta(0, { type: 'thinking_delta', thinking: ' look.' }),
  delta(0, { type: 'signature_delta', signature: 'EqQBCgIYAhIM' }),
  end(0),
  begin(1, redacted!),
  end(1),
  begin(2, { type: 'text', text: '', citations: null }),
  delta(2, { type: 'text_delta', text: 'I look it up. ' }),
  delta(2, { type: 'citations_delta', citation: { type: 'char_location' } }),
  end(2),
  begin(3, { type: 'server_novelty', data: {} }),
  delta(3, { type: 'novelty_delta', data: 'x' }),
  end(3),
  { type: 'novelty', some: 'thing' },
  begin(4, {
    type: 'tool_use',
    id: 'toolu_01A09q90qw90lq917835lq9',
    name: 'get_weather',
    input: {},
    caller: { type: 'direct' },
  }),
  delta(4, { type: 'input_json_delta', partial_json: '' }),
  delta(4, { type: 'input_json_delta', partial_json: '{"city":' }),
  delta(4, { type: 'input_json_delta', partial_json: '"Graz"}' }),
  end(4),
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null, stop_details: null },
    usage: {
      input_tokens: null,
      cache_creation_input_tokens: null,
      output_tokens: 90,
      output_tokens_details: { thinking_tokens: 60 },
    },
  },
  { type: 'message_stop' },
];
/** All of them as the body of an answer. */
export const STREAM = Buffer.from(MESSAGE_EVENTS.map(wireEvent).join(''));

/** A command of a caller of another protocol. */
export function neutral(conversation: Partial<Conversation> = {}, maxTokens = 300): ChatCommand {
  const parts = [{ type: 'text', text: 'Hé' }] as const;
  return {
    protocol: 'chat',
    native: { messages: [{ role: 'user', content: 'Hé' }] },
    maxTokens,
    conversation: () => ({
      messages: [{ role: 'user', parts }],
      tools: [],
      settings: {},
      ...conversation,
    }),
  };
}

/** A command of a caller of the same protocol. Nobody may turn it into a conversation. */
export function native(fields: object = {}, maxTokens = 300): ChatCommand {
  return {
    protocol: 'messages',
    native: { messages: [{ role: 'user', content: 'Hé' }], ...fields },
    nativeHeaders: { 'anthropic-beta': 'novelty-2026-01-01', 'x-api-key': 'stolen' },
    maxTokens,
    conversation: () => {
      throw new Error('a native command was translated');
    },
  };
}

/** The parts of several events, with neighbours of one kind put together. */
export function joinedParts(events: readonly ChatEvent[]): object[] {
  const parts: Record<string, unknown>[] = [];
  for (const part of events.flatMap((event) => event.parts)) {
    const last = parts.at(-1);
    if (part.type === 'tool-arguments' && last?.type === part.type) {
      last.delta = String(last.delta) + part.delta;
    } else if ((part.type === 'text' || part.type === 'reasoning') && last?.type === part.type) {
      last.text = String(last.text) + part.text;
    } else parts.push({ ...part });
  }
  return parts;
}
