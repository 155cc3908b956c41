import { type AskedChat, lastTurn, type OfferedTool } from '../chat/asked-chat.js';
import { asArray, asRecord, parseJson, type JsonRecord } from '../http/json.js';
import { refuseField } from './anthropic-errors.js';
import { blockText, cacheOf, type ReadMessage, readMessages } from './messages-turns.js';
import type { PromptBlock } from '../chat/prompt-cache.js';

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'max_tokens', 'system', 'stream', 'stop_sequences', 'metadata'],
  ...['temperature', 'top_p', 'top_k', 'tools', 'tool_choice', 'thinking', 'output_config'],
  ...['service_tier', 'cache_control', 'inference_geo', 'context_management'],
]);
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const MIN_BUDGET = 1024;
const EFFORTS: readonly unknown[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** A Messages request. */
export interface MessagesRequest extends AskedChat {
  readonly maxTokens: number;
  /** Whether the model thinks, and whether its thoughts are shown. */
  readonly thinking: 'shown' | 'hidden' | undefined;
  /** The prompt in the order in which it is cached. */
  readonly prompt: readonly PromptBlock[];
}

/** Reads and validates a request body as the vendor does; 400 with the path of the field. */
export function readMessagesRequest(body: Buffer): MessagesRequest {
  const request = asRecord(parseJson(body)) ?? refuseField('The request body is not valid JSON.');
  const unknown = Object.keys(request).find((name) => !KNOWN_FIELDS.has(name));
  if (unknown !== undefined) refuseField('Extra inputs are not permitted', unknown);
  const { model, max_tokens: maxTokens } = request;
  if (typeof model !== 'string' || model === '') return refuseField('Field required', 'model');
  if (!Number.isSafeInteger(maxTokens) || Number(maxTokens) < 1) {
    return refuseField('Input should be greater than or equal to 1', 'max_tokens');
  }
  checkNumber(request, 'temperature', 1);
  checkNumber(request, 'top_p', 1);
  const thinking = readThinking(request, Number(maxTokens));
  const messages = readMessages(request.messages, asRecord(request.thinking)?.type === 'enabled');
  const tools = readTools(request.tools);
  return {
    model,
    texts: messages.map(({ text }) => text),
    ...lastTurn(messages),
    imageCount: messages.reduce((sum, { images }) => sum + images, 0),
    isStream: request.stream === true,
    maxTokens: Number(maxTokens),
    stops: readStops(request.stop_sequences),
    tools,
    toolChoice: readToolChoice(request.tool_choice, thinking !== undefined),
    responseFormat: readFormat(request.output_config),
    thinking,
    prompt: [
      ...toolBlocks(request.tools),
      ...systemBlocks(request.system),
      ...turnBlocks(messages),
    ],
  };
}

function turnBlocks(messages: readonly ReadMessage[]): PromptBlock[] {
  return messages.flatMap(({ blocks }) => blocks);
}

function systemBlocks(system: unknown): PromptBlock[] {
  if (system === undefined) return [];
  if (typeof system === 'string') return [{ text: system, cache: undefined }];
  const blocks = asArray(system) ?? refuseField('Input should be a valid string', 'system');
  return blocks.map((value, index) => {
    const path = `system.${index}`;
    const block = asRecord(value) ?? refuseField('Input should be a valid dictionary', path);
    if (block.type !== 'text') refuseField("Input should be 'text'", `${path}.type`);
    return { text: blockText(block, `${path}.text`), cache: cacheOf(block) };
  });
}

function toolBlocks(tools: unknown): PromptBlock[] {
  return (asArray(tools) ?? []).map((value) => {
    const { cache_control: control, ...tool } = asRecord(value) ?? {};
    return { text: JSON.stringify(tool), cache: cacheOf({ cache_control: control }) };
  });
}

function readTools(value: unknown): OfferedTool[] {
  return (asArray(value) ?? []).map((entry, index) => {
    const tool = asRecord(entry) ?? {};
    const { name, input_schema: parameters, type = 'custom' } = tool;
    if (type !== 'custom' && type !== null)
      refuseField('The sandbox has no such tool', `tools.${index}`);
    if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
      return refuseField(
        "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        `tools.${index}.custom.name`,
      );
    }
    if (asRecord(parameters)?.type !== 'object') {
      refuseField("Input should be 'object'", `tools.${index}.custom.input_schema.type`);
    }
    return { name, parameters };
  });
}

function readToolChoice(value: unknown, thinks: boolean): string {
  const { type = 'auto', name } = asRecord(value) ?? {};
  if (thinks && type !== 'auto' && type !== 'none') {
    refuseField('Thinking may not be enabled when tool_choice forces tool use.');
  }
  if (type === 'tool')
    return typeof name === 'string' ? name : refuseField('Field required', 'tool_choice.name');
  if (type === 'any') return 'required';
  return type === 'none' ? 'none' : 'auto';
}

function readThinking(request: JsonRecord, maxTokens: number): MessagesRequest['thinking'] {
  const { type, budget_tokens: budget, display } = asRecord(request.thinking) ?? {};
  if (type === undefined || type === 'disabled') return undefined;
  if (type !== 'enabled' && type !== 'adaptive')
    refuseField('Input tag is unknown', 'thinking.type');
  if (type === 'enabled') checkBudget(budget, maxTokens);
  if ((request.temperature ?? 1) !== 1) {
    refuseField('`temperature` may only be set to 1 when thinking is enabled.');
  }
  return display === 'omitted' ? 'hidden' : 'shown';
}

function checkBudget(budget: unknown, maxTokens: number): void {
  if (!Number.isSafeInteger(budget) || Number(budget) < MIN_BUDGET) {
    refuseField('Input should be greater than or equal to 1024', 'thinking.enabled.budget_tokens');
  }
  if (Number(budget) >= maxTokens)
    refuseField('`max_tokens` must be greater than `thinking.budget_tokens`.');
}

function readFormat(value: unknown): JsonRecord | undefined {
  const { effort, format } = asRecord(value) ?? {};
  if (effort !== undefined && !EFFORTS.includes(effort)) {
    refuseField(`Input should be one of ${EFFORTS.join(', ')}`, 'output_config.effort');
  }
  const schema = asRecord(format)?.schema;
  return schema === undefined ? undefined : { type: 'json_schema', json_schema: { schema } };
}

function readStops(value: unknown): string[] {
  return (asArray(value) ?? []).map((stop, index) => {
    if (typeof stop === 'string' && stop.trim() !== '') return stop;
    return refuseField('each stop sequence must contain non-whitespace', `stop_sequences.${index}`);
  });
}

function checkNumber(request: JsonRecord, name: string, max: number): void {
  const value = request[name];
  if (value === undefined) return;
  if (typeof value !== 'number' || value < 0 || value > max) {
    refuseField(`range: 0..${max}`, name);
  }
}
