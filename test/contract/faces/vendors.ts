import { ANTHROPIC } from './wires/anthropic.wire.js';
import { GEMINI } from './wires/gemini.wire.js';
import { OPENAI_CHAT } from './wires/openai-chat.wire.js';
import { OPENAI_RESPONSES } from './wires/openai-responses.wire.js';

/** What every vendor of the matrix answers: two pieces of text, one call of a tool, and its usage. */
export const SAID = {
  text: 'Let me look.',
  call: { name: 'get_weather', arguments: { city: 'Riga' } },
  promptTokens: 20,
  completionTokens: 9,
} as const;

/** A vendor, as its public documents describe its wire. */
export interface Vendor {
  readonly name: string;
  /** In the overlay. */
  readonly protocol: string;
  /** Of its routes, in the overlay. */
  readonly upstreamProtocol?: string;
  /** Between the origin and the paths of the adapter. */
  readonly basePath: string;
  /** The answer as a stream, event by event. */
  readonly events: readonly string[];
  /** After so many events the answer is whole: what follows is its usage at most. */
  readonly wholeAfter: number;
  /** The answer as one object. */
  readonly whole: object;
}

/** One line for each vendor. */
export const VENDORS: readonly Vendor[] = [OPENAI_CHAT, GEMINI, ANTHROPIC, OPENAI_RESPONSES];
