import type { AskedChat, OfferedTool } from '../chat/asked-chat.js';
import { asArray, asRecord, parseJson, type JsonRecord } from '../http/json.js';
import { refuse } from './openai-errors.js';

const ROLES = ['developer', 'system', 'user', 'assistant', 'tool'];

/** A chat completion request: of streams it says whether they end with usage. */
export interface CompletionRequest extends AskedChat {
  readonly includesUsage: boolean;
}

/** Reads and validates a request body as the vendor does; 400 with the name of the parameter. */
export function readChatRequest(body: Buffer): CompletionRequest {
  const request = asRecord(parseJson(body)) ?? refuse('We could not parse the JSON body.');
  const model = request.model;
  if (typeof model !== 'string' || model === '')
    return refuse('Provide a model parameter.', 'model');
  checkNumber(request, 'temperature', 0, 2);
  checkNumber(request, 'top_p', 0, 1);
  checkNumber(request, 'n', 1, 1);
  checkNumber(request, 'max_tokens', 1, Number.MAX_SAFE_INTEGER);
  const messages = asArray(request.messages)?.map(readMessage) ?? [];
  const last = messages.at(-1) ?? refuse('messages must not be empty.', 'messages');
  const maxTokens = request.max_completion_tokens ?? request.max_tokens;
  return {
    model,
    texts: messages.map(({ text }) => text),
    lastRole: last.role,
    lastText: last.text,
    lastUserText: messages.findLast(({ role }) => role === 'user')?.text ?? '',
    imageCount: messages.reduce((sum, { images }) => sum + images, 0),
    isStream: request.stream === true,
    includesUsage: asRecord(request.stream_options)?.include_usage === true,
    maxTokens: typeof maxTokens === 'number' ? maxTokens : undefined,
    stops: [request.stop].flat().filter((stop) => typeof stop === 'string'),
    tools: readTools(request.tools),
    toolChoice: readToolChoice(request.tool_choice),
    responseFormat: asRecord(request.response_format),
  };
}

function readMessage(value: unknown, index: number) {
  const message = asRecord(value) ?? refuse('A message must be an object.', `messages[${index}]`);
  const { role, content } = message;
  if (typeof role !== 'string' || !ROLES.includes(role)) {
    return refuse(`Invalid role: expected one of ${ROLES.join(', ')}.`, `messages[${index}].role`);
  }
  if (typeof content === 'string') return { role, text: content, images: 0 };
  const parts = asArray(content);
  if (parts === undefined) {
    if (role === 'assistant' && (content ?? null) === null) return { role, text: '', images: 0 };
    return refuse('Invalid content: expected a string or parts.', `messages[${index}].content`);
  }
  const texts = parts
    .map((part) => asRecord(part)?.text)
    .filter((text) => typeof text === 'string');
  const images = parts.filter((part) => asRecord(part)?.type === 'image_url').length;
  return { role, text: texts.join('\n'), images };
}

function readTools(value: unknown): OfferedTool[] {
  return (asArray(value) ?? []).flatMap((tool, index) => {
    const definition = asRecord(asRecord(tool)?.function);
    const name = definition?.name;
    if (typeof name === 'string') return [{ name, parameters: definition?.parameters }];
    // A tool that takes free text is known, and never called.
    if (typeof asRecord(asRecord(tool)?.custom)?.name === 'string') return [];
    return refuse('Missing function name.', `tools[${index}].function.name`);
  });
}

function readToolChoice(value: unknown): string {
  const name = asRecord(asRecord(value)?.function)?.name;
  if (typeof name === 'string') return name;
  return typeof value === 'string' ? value : 'auto';
}

function checkNumber(request: JsonRecord, name: string, min: number, max: number): void {
  const value = request[name] ?? undefined;
  if (value === undefined) return;
  if (typeof value !== 'number' || value < min || value > max) {
    refuse(`Invalid '${name}': expected a number from ${min} to ${max}.`, name);
  }
}
