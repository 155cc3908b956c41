import { invalidField } from '../../common/errors/gateway-error.js';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { OpenBody } from '../../common/validation/open-body.js';
import { IgnoredFields } from '../../text/ignored-fields.js';
import {
  lazily,
  type NamedImage,
  promptBound,
  type PromptText,
  type TextRequest,
} from '../../text/text-request.js';
import type { MessagesBody } from '../dto/messages.body.js';
import { isKnownBlock, KnownBlocks, type PlacedBlock } from './known-blocks.js';
import { blocksOf, conversationOfBody, isSigned, userOf } from './message-conversation.js';

/** The one header of a caller that a vendor of this protocol gets: names of features that are being tried out. */
const BETA_HEADER = 'anthropic-beta';
const BETA = /^[\w., -]{1,2000}$/;

/**
 * The request in the form of the core of text. A vendor of this protocol gets the known fields as they are, and unknown
 * blocks of earlier answers; unknown fields are left out on every level, and named. `tell` gets the names of all that is
 * left out, and once more with the unknown blocks when a vendor of another protocol is asked. Throws `invalid_request`
 * naming the field where fields do not fit each other, and where a strict caller sent unknown ones.
 */
export function messageRequestOf(
  sent: OpenBody<MessagesBody>,
  beta?: string,
  tell: (ignored: readonly string[]) => void = () => undefined,
): TextRequest {
  checkTogether(sent.body);
  const ignored = new IgnoredFields();
  for (const name of sent.ignored) ignored.add(name);
  const blocks = new KnownBlocks(ignored);
  const body = blocks.of(sent.body);
  const { placed, unknown } = blocks;
  const { names } = ignored;
  const leaveOutUnknown = (): void => {
    for (const { path } of unknown) ignored.add(path);
  };
  // Only the attempt shows whether they are left out.
  if (sent.isStrict) leaveOutUnknown();
  ignored.refuseWhere(sent.isStrict);
  tell(names);
  const native = nativeOf(body);
  const images = placed.filter(({ block }) => block.type === 'image');
  const isSent = beta !== undefined && BETA.test(beta);
  return {
    request: {
      protocol: 'messages',
      native,
      ...(isSent && { nativeHeaders: { [BETA_HEADER]: beta } }),
      conversation: lazily(() => {
        leaveOutUnknown();
        tell(ignored.names);
        return conversationOfBody(body);
      }),
    },
    promptTokens: promptBound(JSON.stringify(native, without(images)), images.length),
    maxTokens: body.max_tokens,
    images: images.flatMap(namedImage),
    ignored: names,
    prompt: (isNative) =>
      promptOf(body, isNative ? [...placed, ...unknown] : placed, images.length),
    affinity: userOf(body),
  };
}

function checkTogether(body: MessagesBody): void {
  checkThinking(body);
  checkToolChoice(body);
}

function checkThinking({ thinking, max_tokens: most }: MessagesBody): void {
  const budget = thinking?.type === 'enabled' ? thinking.budget_tokens : undefined;
  if (most !== undefined && typeof budget === 'number' && budget >= most) {
    throw invalidField('thinking.budget_tokens', 'must be less than max_tokens');
  }
}

function checkToolChoice({ tools = [], tool_choice }: MessagesBody): void {
  if (tool_choice?.type === 'any' && tools.length === 0) {
    throw invalidField('tool_choice.type', 'needs a tool in tools');
  }
  if (tool_choice?.type === 'tool' && !tools.some(({ name }) => name === tool_choice.name)) {
    throw invalidField('tool_choice.name', 'must name one of the tools');
  }
}

/** The known fields, without those that the adapter adds. */
function nativeOf(body: MessagesBody): JsonObject {
  const { model, max_tokens, stream, mcp_servers, container, messages, ...fields } = body;
  return { ...fields, messages: messages.flatMap(withSignedThoughts) };
}

/** Thoughts of vendors of other protocols are not signed. This protocol's vendor refuses them. */
function withSignedThoughts(message: JsonObject): JsonObject[] {
  const { content } = message;
  if (message.role !== 'assistant' || !Array.isArray(content)) return [message];
  const blocks = content as readonly JsonObject[];
  const kept = blocks.filter((block) => block.type !== 'thinking' || isSigned(block));
  if (kept.length === blocks.length) return [message];
  return kept.length === 0 ? [] : [{ ...message, content: kept }];
}

function namedImage({ block, path }: PlacedBlock): NamedImage[] {
  const { type, url } = block.source as JsonObject;
  return type === 'url' ? [{ param: `${path}.source.url`, url: url as string }] : [];
}

/**
 * A replacer that leaves out the bytes of these images, which count by themselves. It goes by the object and not by its
 * shape: what looks like an image inside a caller's arguments or schema is text, which the vendor bills.
 */
function without(images: readonly PlacedBlock[]): (name: string, value: unknown) => unknown {
  const sources = new Set<unknown>(images.map(({ block }) => block.source));
  return (_name, value) =>
    sources.has(value) ? { ...(value as JsonObject), data: '', url: '' } : value;
}

function promptOf(
  { system, messages, tools = [], output_config: config }: MessagesBody,
  placed: readonly PlacedBlock[],
  images: number,
): PromptText {
  const blocks = [...blocksOf(system), ...placed.map(({ block }) => block)];
  const shapes = [...tools, ...(isJsonObject(config?.format) ? [config.format] : [])];
  return {
    texts: [...blocks.flatMap(textsOf), ...shapes.map((shape) => JSON.stringify(shape))],
    messages: messages.length + (system === undefined ? 0 : 1),
    images,
  };
}

function textsOf(block: JsonObject): string[] {
  return isKnownBlock(block) ? textsOfKnown(block) : [JSON.stringify(block)];
}

function textsOfKnown({ type, text, thinking, name, input, title, source }: JsonObject): string[] {
  const { data, content } = isJsonObject(source) && type === 'document' ? source : {};
  const inner = blocksOf(content).map((block) => block.text);
  const texts = [text, thinking, name, title, data, ...inner].filter(
    (value): value is string => typeof value === 'string',
  );
  return isJsonObject(input) ? [...texts, JSON.stringify(input)] : texts;
}
