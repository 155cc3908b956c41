import type { JsonObject } from '../../src/common/json-object.js';
import { anthropicPorts } from '../../src/providers/anthropic/anthropic-ports.js';
import { geminiPorts } from '../../src/providers/gemini/gemini-ports.js';
import type { ProviderContext } from '../../src/providers/http/provider-context.js';
import { openAiPorts } from '../../src/providers/openai/openai-ports.js';
import type { ChatCommand } from '../../src/providers/ports/chat.port.js';
import type { ProviderPorts } from '../../src/providers/ports/provider-ports.js';
import { foreignCommand } from '../support/chat-command.js';
import { MESSAGE, MESSAGE_EVENTS, native, neutral, wireEvent } from './anthropic-wires.js';
import { eventBytes, EVENTS, said, SIGNATURE, USAGE } from './gemini-wires.js';
import { RESPONSE, response, RESPONSE_EVENTS, responseBytes } from './openai-response-wires.js';

/** The answers of one vendor of text, as its documents write them, to be damaged. */
export interface DamagedWire {
  readonly portsOf: (access: ProviderContext) => ProviderPorts;
  readonly upstreamProtocol?: 'responses';
  /** Callers of other protocols, and of its own where callers speak it. */
  readonly commands: readonly ChatCommand[];
  readonly answer: JsonObject;
  readonly events: readonly JsonObject[];
  readonly bytesOf: (events: readonly JsonObject[]) => string;
  /** One of so many events is damaged. */
  readonly rarity: number;
  /** How a text begins that has no end, and the piece that is repeated. */
  readonly endless: { readonly begin: readonly JsonObject[]; readonly piece: JsonObject };
  /** A whole answer with this text. */
  readonly saying: (text: string) => JsonObject;
  /** A whole answer with so many calls. */
  readonly calling: (calls: number) => JsonObject;
  /** Where the answer has its list, up to its bracket. */
  readonly list: string;
}

const TO_GEMINI = foreignCommand(
  {
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
    tools: [{ kind: 'custom', name: 'go' }],
    settings: {},
  },
  100,
);
const FIRST_TEXT = RESPONSE_EVENTS.findIndex(({ type }) => type === 'response.output_text.delta');

/** A request to Responses, of callers of this protocol. */
export const responsesCommand = (protocol: ChatCommand['protocol']): ChatCommand => ({
  ...neutral({}, 100),
  protocol,
  native: { input: 'Hi' },
});

const MESSAGES: DamagedWire = {
  portsOf: anthropicPorts,
  commands: [neutral(), native()],
  answer: MESSAGE,
  events: MESSAGE_EVENTS,
  bytesOf: (events) =>
    (events as readonly (JsonObject & { readonly type: string })[]).map(wireEvent).join(''),
  rarity: 8,
  endless: {
    begin: [
      MESSAGE_EVENTS[0]!,
      { type: 'content_block_start', index: 0, content_block: { type: 'text' } },
    ],
    piece: {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'more and more ' },
    },
  },
  saying: (text) => ({ ...MESSAGE, content: [{ type: 'text', text }] }),
  calling: (calls) => {
    const call = { type: 'tool_use', id: 't', name: 'go', input: {} };
    return { ...MESSAGE, content: Array(calls).fill(call) };
  },
  list: '{"content":',
};

const GEMINI: DamagedWire = {
  portsOf: geminiPorts,
  commands: [TO_GEMINI],
  answer: said({
    parts: [
      { text: 'I look.', thought: true },
      { text: 'Hé' },
      { functionCall: { id: 'f1', name: 'go', args: { a: [1] } }, thoughtSignature: SIGNATURE },
    ],
    finishReason: 'STOP',
    usage: USAGE,
  }),
  events: EVENTS,
  bytesOf: (events) => eventBytes(events).toString(),
  rarity: 8,
  endless: { begin: [], piece: said({ parts: [{ text: 'more and more ' }] }) },
  saying: (text) => said({ parts: [{ text }] }),
  calling: (calls) => {
    const call = { functionCall: { name: 'go', args: {} } };
    return said({ parts: Array(calls).fill(call), finishReason: 'STOP' });
  },
  list: '{"candidates":',
};

const RESPONSES: DamagedWire = {
  portsOf: openAiPorts,
  upstreamProtocol: 'responses',
  commands: [responsesCommand('chat'), responsesCommand('responses')],
  answer: RESPONSE,
  events: RESPONSE_EVENTS,
  bytesOf: (events) => responseBytes(events).toString(),
  rarity: 20,
  endless: { begin: RESPONSE_EVENTS.slice(0, FIRST_TEXT), piece: RESPONSE_EVENTS[FIRST_TEXT]! },
  saying: (text) => response({ user: text }),
  calling: (calls) => {
    const call = { type: 'function_call', call_id: 'c', name: 'go', arguments: '{}' };
    return response({ output: Array(calls).fill(call) });
  },
  list: '{"output":',
};

/** The vendors of text, but for chat completions, whose shapes are many. */
export const DAMAGED_WIRES: readonly (readonly [string, DamagedWire])[] = [
  ['Messages', MESSAGES],
  ['Gemini', GEMINI],
  ['Responses', RESPONSES],
];
