import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { faultAt, uncleanPart, within } from '../../common/validation/clean-json.js';
import type { PartFault } from '../../common/validation/fields.js';
import { cacheFault } from './tool-shapes.js';
import { isUnknownType, unknownBlockFault } from './unknown-blocks.js';

/** Most messages of one request. */
const MAX_MESSAGES = 100_000;
const MAX_ID = 256;
const ROLES: readonly unknown[] = ['user', 'assistant', 'system'];
const IMAGE_TYPES: readonly unknown[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const WEB_URL = /^https?:\/\//i;
/** Anything else in the place of an image could carry text that is not paid for. */
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const NO_FILES = 'is not offered here: there is no store of files';
const NO_LENGTH =
  'must be text or content: nobody knows what a PDF costs before it is read, so send its text';

type Fault = PartFault | undefined;
type Check = (block: JsonObject) => Fault;

const RESULT_BLOCKS: ReadonlyMap<unknown, Check> = new Map<unknown, Check>([
  ['text', (block) => textFault(block, 'text')],
  ['image', ({ source }) => within('.source', imageFault(source))],
  ['document', ({ source }) => within('.source', documentFault(source))],
  ['search_result', searchResultFault],
]);
const USER_BLOCKS: ReadonlyMap<unknown, Check> = new Map<unknown, Check>([
  ...RESULT_BLOCKS,
  ['tool_result', toolResultFault],
]);
const ASSISTANT_BLOCKS: ReadonlyMap<unknown, Check> = new Map<unknown, Check>([
  ['text', (block) => textFault(block, 'text')],
  ['tool_use', toolUseFault],
  ['thinking', (block) => textFault(block, 'thinking') ?? signatureFault(block)],
  ['redacted_thinking', (block) => textFault(block, 'data')],
]);
const SYSTEM_BLOCKS: ReadonlyMap<unknown, Check> = new Map<unknown, Check>([
  ['text', (block) => textFault(block, 'text')],
]);

/** `messages`: turns in order. The fault names the block and its part, such as `.2.content.1.source`. */
export function turnsFault(messages: unknown): Fault {
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > MAX_MESSAGES) {
    return faultAt('', `must be an array of 1 to ${MAX_MESSAGES} messages`);
  }
  for (const [index, message] of messages.entries()) {
    const fault = within(`.${index}`, messageFault(message));
    if (fault) return fault;
  }
  return uncleanPart(messages);
}

/** `system`: a text, or blocks of text. */
export function systemFault(system: unknown): Fault {
  if (typeof system === 'string') return uncleanPart(system);
  return blocksFault(system, SYSTEM_BLOCKS) ?? uncleanPart(system);
}

function messageFault(message: unknown): Fault {
  if (!isJsonObject(message)) return faultAt('', 'must be an object');
  const { role, content } = message;
  if (!ROLES.includes(role)) return faultAt('.role', `must be one of ${ROLES.join(', ')}`);
  if (typeof content === 'string') return undefined;
  return within('.content', blocksFault(content, blocksOf(role)));
}

function blocksOf(role: unknown): ReadonlyMap<unknown, Check> {
  if (role === 'assistant') return ASSISTANT_BLOCKS;
  return role === 'user' ? USER_BLOCKS : SYSTEM_BLOCKS;
}

function blocksFault(blocks: unknown, known: ReadonlyMap<unknown, Check>): Fault {
  if (!Array.isArray(blocks)) return faultAt('', 'must be a text or an array of blocks');
  for (const [index, block] of blocks.entries()) {
    const fault = within(`.${index}`, blockFault(block, known));
    if (fault) return fault;
  }
  return undefined;
}

function blockFault(block: unknown, known: ReadonlyMap<unknown, Check>): Fault {
  if (!isJsonObject(block)) return faultAt('', 'must be an object');
  const check = known.get(block.type) ?? checkOfUnknown(block, known);
  if (!check) return faultAt('.type', `must be one of ${[...known.keys()].join(', ')} here`);
  return check(block) ?? within('.cache_control', cacheFault(block.cache_control));
}

/** Vendors of this protocol add types of blocks to their answers, and want them back. */
function checkOfUnknown({ type }: JsonObject, known: typeof USER_BLOCKS): Check | undefined {
  const isUnknown = known === ASSISTANT_BLOCKS && isUnknownType(type) && !USER_BLOCKS.has(type);
  return isUnknown ? unknownBlockFault : undefined;
}

function imageFault(source: unknown): Fault {
  if (!isJsonObject(source)) return faultAt('', 'must be an object');
  const { type, url, media_type: mediaType, data } = source;
  if (type === 'url') {
    if (typeof url === 'string' && WEB_URL.test(url)) return undefined;
    return faultAt('.url', 'must be an http or https URL');
  }
  if (type === 'file') return faultAt('.type', NO_FILES);
  if (type !== 'base64') return faultAt('.type', 'must be base64 or url');
  if (!IMAGE_TYPES.includes(mediaType)) {
    return faultAt('.media_type', `must be one of ${IMAGE_TYPES.join(', ')}`);
  }
  if (typeof data === 'string' && BASE64.test(data)) return undefined;
  return faultAt('.data', 'must be base64');
}

function documentFault(source: unknown): Fault {
  if (!isJsonObject(source)) return faultAt('', 'must be an object');
  if (source.type === 'text') return textFault(source, 'data');
  if (source.type === 'file') return faultAt('.type', NO_FILES);
  if (source.type !== 'content') return faultAt('.type', NO_LENGTH);
  if (typeof source.content === 'string') return undefined;
  return within('.content', blocksFault(source.content, SYSTEM_BLOCKS));
}

function searchResultFault(block: JsonObject): Fault {
  const fault = textFault(block, 'source') ?? textFault(block, 'title');
  return fault ?? within('.content', blocksFault(block.content, SYSTEM_BLOCKS));
}

function toolUseFault(block: JsonObject): Fault {
  const fault = labelFault(block, 'id') ?? labelFault(block, 'name');
  if (fault) return fault;
  return isJsonObject(block.input) ? undefined : faultAt('.input', 'must be an object');
}

function toolResultFault(block: JsonObject): Fault {
  const fault = labelFault(block, 'tool_use_id');
  if (fault) return fault;
  const { content, is_error: isError } = block;
  if (isError !== undefined && isError !== null && typeof isError !== 'boolean') {
    return faultAt('.is_error', 'must be true or false');
  }
  if (content === undefined || content === null || typeof content === 'string') return undefined;
  return within('.content', blocksFault(content, RESULT_BLOCKS));
}

function signatureFault({ signature }: JsonObject): Fault {
  if (signature === undefined || typeof signature === 'string') return undefined;
  return faultAt('.signature', 'must be a text');
}

function textFault(block: JsonObject, name: string): Fault {
  return typeof block[name] === 'string' ? undefined : faultAt(`.${name}`, 'must be a text');
}

function labelFault(block: JsonObject, name: string): Fault {
  const value = block[name];
  if (typeof value === 'string' && value !== '' && value.length <= MAX_ID) return undefined;
  return faultAt(`.${name}`, `must be 1 to ${MAX_ID} characters`);
}
