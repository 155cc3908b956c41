import { type AskedChat, lastTurn, type OfferedTool } from '../chat/asked-chat.js';
import { asArray, asRecord, parseJson, type JsonRecord } from '../http/json.js';
import { refuse } from './openai-errors.js';

const MIN_OUTPUT_TOKENS = 16;
const SEALED = 'reasoning.encrypted_content';
const ROLES = ['user', 'assistant', 'system', 'developer'];

/** A request for a response. */
export interface ResponsesRequest extends AskedChat {
  /** Whether the model is to reason, and whether its reasoning comes back encrypted. */
  readonly reasons: boolean;
  readonly isEncrypted: boolean;
}

/** An item of the input as it is read. */
interface ReadItem {
  readonly role: string;
  readonly text: string;
  readonly images: number;
  readonly isToolAnswer: boolean;
}

/** Reads and validates a request body as the vendor does; 400 with the name of the parameter. */
export function readResponsesRequest(body: Buffer): ResponsesRequest {
  const request = asRecord(parseJson(body)) ?? refuse('We could not parse the JSON body.');
  const model = readModel(request);
  const maxTokens = request.max_output_tokens;
  const items = readInput(request.input);
  const instructions = typeof request.instructions === 'string' ? [request.instructions] : [];
  const format = asRecord(asRecord(request.text)?.format);
  return {
    model,
    texts: [...instructions, ...items.map(({ text }) => text)],
    ...lastTurn(items),
    imageCount: items.reduce((sum, { images }) => sum + images, 0),
    isStream: request.stream === true,
    maxTokens: typeof maxTokens === 'number' ? maxTokens : undefined,
    stops: [],
    tools: readTools(request.tools),
    toolChoice: readToolChoice(request.tool_choice),
    responseFormat: format?.type === 'json_schema' ? { ...format, json_schema: format } : format,
    reasons: reasonsIn(asRecord(request.reasoning)),
    isEncrypted: (asArray(request.include) ?? []).includes(SEALED),
  };
}

/** The model; 400 where it is absent, the cap is too low, or the answer is to be stored. */
function readModel({ model, max_output_tokens: maxTokens, store }: JsonRecord): string {
  if (typeof model !== 'string' || model === '') {
    return refuse('Provide a model parameter.', 'model');
  }
  if (maxTokens !== undefined && !(Number(maxTokens) >= MIN_OUTPUT_TOKENS)) {
    refuse(`Expected a value >= ${MIN_OUTPUT_TOKENS}.`, 'max_output_tokens');
  }
  if (store !== false) refuse('The sandbox stores nothing: send store: false.', 'store');
  return model;
}

/** What the sandbox has encrypted, which it reads again when it comes back. */
export function encryptedText(thought: string): string {
  return `sandbox:${Buffer.from(thought).toString('base64')}`;
}

function reasonsIn(reasoning: JsonRecord | undefined): boolean {
  return reasoning !== undefined && (reasoning.effort ?? 'none') !== 'none';
}

function readInput(input: unknown): ReadItem[] {
  if (typeof input === 'string') {
    return [{ role: 'user', text: input, images: 0, isToolAnswer: false }];
  }
  const items = asArray(input) ?? [];
  if (items.length === 0) refuse('Provide an input.', 'input');
  const calls = new Set<unknown>();
  return items.flatMap((item, index) => readItem(asRecord(item) ?? {}, `input[${index}]`, calls));
}

function readItem(item: JsonRecord, path: string, calls: Set<unknown>): ReadItem[] {
  const { type = 'message', call_id: callId } = item;
  switch (type) {
    case 'message':
      return [readMessage(item, path)];
    case 'function_call':
    case 'custom_tool_call':
      calls.add(callId);
      return [];
    case 'function_call_output':
    case 'custom_tool_call_output': {
      if (!calls.has(callId)) refuse(`No tool call found for ${String(callId)}.`, path);
      const text = textsOf(item.output).join('\n');
      return [{ role: 'user', text, images: 0, isToolAnswer: true }];
    }
    case 'reasoning':
      checkReasoning(item, path);
      return [];
    default:
      return refuse(`Invalid value: '${String(type)}'.`, `${path}.type`);
  }
}

function readMessage({ role, content }: JsonRecord, path: string): ReadItem {
  if (typeof role !== 'string' || !ROLES.includes(role)) {
    return refuse(`Invalid role: expected one of ${ROLES.join(', ')}.`, `${path}.role`);
  }
  const images = (asArray(content) ?? []).filter((part) => asRecord(part)?.type === 'input_image');
  const text = textsOf(content).join('\n');
  return { role, text, images: images.length, isToolAnswer: false };
}

/** Nothing is stored: a thought comes back whole and as it was encrypted, or not at all. */
function checkReasoning({ id, encrypted_content: encrypted }: JsonRecord, path: string): void {
  if (typeof encrypted === 'string' && encrypted.startsWith('sandbox:')) return;
  refuse(
    `Item with id '${String(id)}' not found. Items are not persisted when store is false.`,
    path,
  );
}

function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  return (asArray(content) ?? [])
    .map((part) => asRecord(part)?.text)
    .filter((text) => typeof text === 'string');
}

function readTools(value: unknown): OfferedTool[] {
  return (asArray(value) ?? []).flatMap((tool, index) => {
    const { type, name, parameters } = asRecord(tool) ?? {};
    if (typeof name !== 'string') return refuse('Missing tool name.', `tools[${index}].name`);
    // A tool that takes free text is known, and never called.
    return type === 'function' ? [{ name, parameters }] : [];
  });
}

function readToolChoice(value: unknown): string {
  const name = asRecord(value)?.name;
  if (typeof name === 'string') return name;
  return typeof value === 'string' ? value : 'auto';
}
