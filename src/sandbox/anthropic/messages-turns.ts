import { asArray, asRecord, type JsonRecord } from '../http/json.js';
import { refuseField } from './anthropic-errors.js';
import type { PromptBlock } from '../chat/prompt-cache.js';
import { hashText } from '../media/seeded-random.js';

const TOOL_ID = /^[a-zA-Z0-9_-]+$/;
const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const THINKING_TYPES = ['thinking', 'redacted_thinking'];
const MAX_CACHE_CONTROLS = 4;

/** A message of a request. */
export interface ReadMessage {
  readonly role: string;
  /** Its texts and the texts of its tool results. */
  readonly text: string;
  readonly images: number;
  /** Whether it brings results of tools and no other text. */
  readonly isToolAnswer: boolean;
  readonly blocks: readonly (PromptBlock & { readonly type: string; readonly id?: string })[];
}

/**
 * Reads the messages and checks them as the vendor does: each call of a tool has its result in the next message, before
 * everything else there, and a turn that is not over begins with its thoughts while thinking is enabled.
 */
export function readMessages(value: unknown, thinks: boolean): ReadMessage[] {
  const messages = (asArray(value) ?? []).map(readMessage);
  if (messages.length === 0) refuseField('at least one message is required', 'messages');
  if (messages[0]?.role !== 'user')
    refuseField('first message must use the "user" role', 'messages');
  messages.forEach((message, index) => {
    checkResults(message, messages[index - 1], `messages.${index}`);
    checkCalls(message, messages[index + 1], `messages.${index}`);
  });
  const marks = messages.flatMap(({ blocks }) => blocks.filter(({ cache }) => cache !== undefined));
  if (marks.length > MAX_CACHE_CONTROLS) {
    refuseField('A maximum of 4 blocks with cache_control may be provided.');
  }
  if (thinks) checkThoughts(messages);
  return messages;
}

/** The text of a block, which must not be blank. */
export function blockText({ text }: JsonRecord, path: string): string {
  if (typeof text !== 'string' || text.trim() === '') {
    return refuseField('text content blocks must contain non-whitespace text', path);
  }
  return text;
}

/** For how long the prompt up to this block is to be cached. */
export function cacheOf({ cache_control: control }: JsonRecord): PromptBlock['cache'] {
  const wanted = asRecord(control);
  if (wanted === undefined) return undefined;
  return wanted.ttl === '1h' ? '1h' : '5m';
}

/** The signature of thoughts, without which they are not taken back. */
export function thoughtSignatureOf(thinking: string): string {
  return Buffer.from(`sandbox-thinking:${hashText(thinking)}`).toString('base64');
}

function readMessage(value: unknown, index: number): ReadMessage {
  const path = `messages.${index}`;
  const { role, content } =
    asRecord(value) ?? refuseField('Input should be a valid dictionary', path);
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    return refuseField("Input should be 'user' or 'assistant'", `${path}.role`);
  }
  const list = typeof content === 'string' ? [{ type: 'text', text: content }] : asArray(content);
  if (list === undefined || list.length === 0) {
    return refuseField('all messages must have non-empty content', `${path}.content`);
  }
  const blocks = list.map((block, at) => readBlock(block, `${path}.content.${at}`));
  return {
    role,
    text: blocks.map(({ text }) => text).join('\n'),
    images: blocks.reduce((sum, { images }) => sum + images, 0),
    isToolAnswer: blocks.every(({ type }) => type === 'tool_result'),
    blocks,
  };
}

function readBlock(value: unknown, path: string) {
  const block = asRecord(value) ?? refuseField('Input should be a valid dictionary', path);
  const { type } = block;
  const cache = cacheOf(block);
  switch (type) {
    case 'text':
      return { type, text: blockText(block, `${path}.text`), images: 0, cache };
    case 'image':
      checkImage(block, path);
      return { type, text: '', images: 1, cache };
    case 'tool_use':
      return {
        type,
        text: callText(block, path),
        images: 0,
        cache,
        id: idAt(block.id, `${path}.id`),
      };
    case 'tool_result':
      return {
        type,
        ...resultOf(block, path),
        cache,
        id: idAt(block.tool_use_id, `${path}.tool_use_id`),
      };
    case 'thinking':
      checkSignature(block, path);
      return { type, text: String(block.thinking), images: 0, cache };
    case 'redacted_thinking':
    case 'document':
    case 'search_result':
      return { type, text: '', images: 0, cache };
    case 'compaction':
      // A summary of the turns before it, which the vendor itself made.
      return { type, text: String(block.content), images: 0, cache };
    default:
      return refuseField(`Input tag '${String(type)}' is unknown`, path);
  }
}

function idAt(value: unknown, path: string): string {
  if (typeof value === 'string' && TOOL_ID.test(value)) return value;
  return refuseField("String should match pattern '^[a-zA-Z0-9_-]+$'", path);
}

function callText({ name, input }: JsonRecord, path: string): string {
  if (typeof name !== 'string' || name === '') return refuseField('Field required', `${path}.name`);
  if (asRecord(input) === undefined)
    refuseField('Input should be a valid dictionary', `${path}.input`);
  return `${name} ${JSON.stringify(input)}`;
}

function resultOf({ content = '' }: JsonRecord, path: string) {
  if (typeof content === 'string') return { text: content, images: 0 };
  const parts =
    asArray(content) ?? refuseField('Input should be a valid string', `${path}.content`);
  const records = parts.map((part) => asRecord(part) ?? {});
  const texts = records.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  return { text: texts.join('\n'), images: records.filter(({ type }) => type === 'image').length };
}

function checkImage({ source }: JsonRecord, path: string): void {
  const { type, media_type: mediaType, data, url } = asRecord(source) ?? {};
  if (type === 'url' && typeof url === 'string' && url.startsWith('https:')) return;
  if (type !== 'base64')
    refuseField('Only https URLs and base64 are supported', `${path}.image.source`);
  if (!IMAGE_TYPES.includes(String(mediaType))) {
    refuseField(
      `Input should be one of ${IMAGE_TYPES.join(', ')}`,
      `${path}.image.source.media_type`,
    );
  }
  if (typeof data !== 'string' || data === '')
    refuseField('Field required', `${path}.image.source.data`);
}

function checkSignature({ thinking, signature }: JsonRecord, path: string): void {
  if (typeof thinking === 'string' && signature === thoughtSignatureOf(thinking)) return;
  refuseField('Invalid `signature` in `thinking` block', path);
}

function checkResults(message: ReadMessage, before: ReadMessage | undefined, path: string): void {
  const results = message.blocks.filter(({ type }) => type === 'tool_result');
  const first = message.blocks.slice(0, results.length);
  if (first.some(({ type }) => type !== 'tool_result')) {
    refuseField('tool_result blocks must come first in the content', `${path}.content`);
  }
  const calls = (before?.blocks ?? [])
    .filter(({ type }) => type === 'tool_use')
    .map(({ id }) => id);
  const stray = results.find(({ id }) => !calls.includes(id));
  if (stray)
    refuseField(
      `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray.id ?? ''}`,
      path,
    );
}

function checkCalls(message: ReadMessage, next: ReadMessage | undefined, path: string): void {
  const results = (next?.blocks ?? [])
    .filter(({ type }) => type === 'tool_result')
    .map(({ id }) => id);
  const open = message.blocks.find(({ type, id }) => type === 'tool_use' && !results.includes(id));
  if (open && message.role === 'assistant') {
    refuseField('`tool_use` ids were found without `tool_result` blocks immediately after', path);
  }
}

function checkThoughts(messages: readonly ReadMessage[]): void {
  if (messages.at(-1)?.isToolAnswer !== true) return;
  const turn = messages.findLast(({ role }) => role === 'assistant');
  const type = turn?.blocks[0]?.type ?? '';
  if (!THINKING_TYPES.includes(type)) {
    refuseField(
      `Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\``,
      'messages',
    );
  }
}
