import { asRecord, asArray, type JsonRecord } from '../http/json.js';
import { Magic } from '../magic-inputs.js';
import { hashText } from '../media/seeded-random.js';
import type { AskedChat, OfferedTool } from './asked-chat.js';

const TOPIC_WORDS = 14;
const SAY_EXACTLY =
  /^(?:please\s+)?(?:say|repeat|reply with|answer with)(?:\s+exactly)?:?\s+(\S.*)$/is;
const CLOSINGS = [
  'It is worth starting small, measuring, and keeping what works.',
  'The short answer is that it depends on the details, and the details can be learned.',
  'Most of it becomes clear once the first example runs.',
];

/** What the sandbox answers in a chat: a text, or the call of a function. */
export type ChatReply =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly arguments: string };

/**
 * A short reply about the last user message; the same message gives the same reply. It calls a tool when one is
 * required or named, gives JSON when JSON is required, repeats the text after "say …", and otherwise quotes the topic.
 */
export function replyTo(request: AskedChat): ChatReply {
  const question = Magic.strip(request.lastUserText).trim();
  const topic = question.split(/\s+/).slice(0, TOPIC_WORDS).join(' ');
  const tool = toolToCall(request, question);
  if (tool !== undefined) {
    const values = exampleOf(tool.parameters, topic);
    return { kind: 'call', name: tool.name, arguments: JSON.stringify(values) };
  }
  return { kind: 'text', text: textReply(request, question, topic) };
}

function toolToCall(request: AskedChat, question: string): OfferedTool | undefined {
  const { tools, toolChoice, lastRole } = request;
  if (toolChoice === 'none' || tools.length === 0) return undefined;
  if (toolChoice === 'required') return tools[0];
  if (toolChoice !== 'auto') return tools.find(({ name }) => name === toolChoice);
  // With `auto`, the reply to a tool's answer is text, not another call.
  if (lastRole === 'tool') return undefined;
  const asked = question.toLowerCase();
  return tools.find(({ name }) =>
    name
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .some((word) => word.length > 3 && asked.includes(word)),
  );
}

function textReply(request: AskedChat, question: string, topic: string): string {
  const format = request.responseFormat;
  if (format?.type === 'json_schema') {
    return JSON.stringify(exampleOf(asRecord(format.json_schema)?.schema, topic));
  }
  const closing = CLOSINGS[hashText(question) % CLOSINGS.length] ?? '';
  if (format?.type === 'json_object') return JSON.stringify({ topic, answer: closing });
  if (request.lastRole === 'tool') return `The tool answered: ${request.lastText}`;
  const exact = SAY_EXACTLY.exec(question)?.[1];
  if (exact !== undefined) return exact.replace(/^["“](.*)["”]$/s, '$1');
  const seen = request.imageCount === 0 ? '' : ` I received ${request.imageCount} image(s).`;
  return `You asked about “${topic}”.${seen} This is the sandbox, so no model was consulted. ${closing}`;
}

const MAX_DEPTH = 8;

/** A value that fits a JSON schema. Every property has a value; texts use the topic. */
export function exampleOf(schema: unknown, topic: string, depth = 0): unknown {
  const rules = asRecord(schema) ?? {};
  const [choice] = asArray(rules.enum) ?? [];
  const type = asArray(rules.type)?.[0] ?? rules.type;
  if (choice !== undefined) return choice;
  const number = rules.minimum ?? 1;
  const simple = new Map<unknown, unknown>([
    ['string', topic],
    ['number', number],
    ['integer', number],
    ['boolean', true],
  ]);
  if (simple.has(type)) return simple.get(type);
  return depth < MAX_DEPTH ? nestedExample(rules, topic, depth + 1) : null;
}

function nestedExample(rules: JsonRecord, topic: string, depth: number): unknown {
  if (rules.items !== undefined) return [exampleOf(rules.items, topic, depth)];
  return Object.fromEntries(
    Object.entries(asRecord(rules.properties) ?? {}).map(([name, property]) => [
      name,
      exampleOf(property, topic, depth),
    ]),
  );
}

const TOKEN = /\s?\p{L}{1,4}|\s?\p{N}{1,3}|\s?[^\s\p{L}\p{N}]|\s/gu;
/** Tokens that every message costs in addition to its text, and tokens that begin a reply. */
const TOKENS_PER_MESSAGE = 3;

/**
 * Splits a text into the sandbox's tokens: up to four letters, up to three digits or one other character, each with the
 * white space before it. Joined they are the text again. The sandbox's usage numbers count these tokens.
 */
export function tokensOf(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

/** Tokens of a prompt: those of its texts, three per message and three for the beginning of the reply. */
export function countPromptTokens(texts: readonly string[]): number {
  return texts.reduce(
    (sum, text) => sum + tokensOf(text).length + TOKENS_PER_MESSAGE,
    TOKENS_PER_MESSAGE,
  );
}
