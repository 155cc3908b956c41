import { isJsonObject, type JsonObject } from '../common/json-object.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { imageFault } from '../text/text-fields.js';
import { ROLES } from './dto/message.schema.js';

/**
 * Checks every message: it is an object, its role is known, and its content is a text or a list of parts of type text,
 * image_url or refusal. An assistant's message with tool calls, a refusal or reasoning needs no content, and it may be null
 * as in our own responses. Throws
 * `invalid_request` with the dotted path of the field (decisions G-23, G-92).
 */
export function checkMessages(
  messages: readonly unknown[],
): asserts messages is readonly JsonObject[] {
  for (const [index, message] of messages.entries()) {
    const path = `messages.${index}`;
    if (!isJsonObject(message)) throw invalidMessage(path, 'must be an object', 'messages');
    if (!ROLES.some((role) => role === message.role)) {
      throw invalidMessage(`${path}.role`, `must be one of ${ROLES.join(', ')}`);
    }
    checkContent(message, `${path}.content`);
  }
}

/**
 * The message as it is sent upstream: an assistant message without content and tool calls gets an empty text, which
 * providers accept.
 */
export function withContent(message: JsonObject): JsonObject {
  const { content, role, tool_calls: calls, function_call: call } = message;
  if (role !== 'assistant' || (content !== null && content !== undefined)) return message;
  const hasCalls = (Array.isArray(calls) && calls.length > 0) || isJsonObject(call);
  return hasCalls ? message : { ...message, content: '' };
}

/** Content parts of a message; none if the content is a text. */
export function partsOf({ content }: JsonObject): readonly JsonObject[] {
  return Array.isArray(content) ? (content as readonly JsonObject[]) : [];
}

function checkContent(message: JsonObject, path: string): void {
  const { content } = message;
  if (typeof content === 'string') return;
  if (Array.isArray(content) && content.length > 0) {
    for (const [index, part] of content.entries()) checkPart(part, `${path}.${index}`);
    return;
  }
  // A response without text has null there, and clients send it back as history.
  if (content === null && message.role === 'assistant') return;
  if (content === undefined && needsNoContent(message)) return;
  throw invalidMessage(path, 'must be a text or an array of parts');
}

function needsNoContent({ role, tool_calls: calls, function_call: call, ...rest }: JsonObject) {
  if (role !== 'assistant') return false;
  const { refusal, reasoning, reasoning_content } = rest;
  return (
    (Array.isArray(calls) && calls.length > 0) ||
    isJsonObject(call) ||
    [refusal, reasoning, reasoning_content].some((text) => typeof text === 'string' && text !== '')
  );
}

function checkPart(part: unknown, path: string): void {
  if (!isJsonObject(part)) throw invalidMessage(path, 'must be an object');
  if (part.type === 'text' || part.type === 'refusal') {
    if (typeof part[part.type] !== 'string')
      throw invalidMessage(`${path}.${part.type}`, 'must be a text');
  } else if (part.type === 'image_url') checkImage(part.image_url, `${path}.image_url`);
  else throw invalidMessage(path, 'must be a part of type text, image_url or refusal');
}

function checkImage(image: unknown, path: string): void {
  const { url, detail } = isJsonObject(image) ? image : {};
  const fault = imageFault(url, detail);
  if (fault) throw invalidMessage(`${path}.${fault[0]}`, fault[1]);
}

function invalidMessage(path: string, says: string, param = path): GatewayError {
  return new GatewayError('invalid_request', `${path} ${says}.`, { param });
}
