import { type AskedChat, lastTurn, type OfferedTool } from '../chat/asked-chat.js';
import type { PromptBlock } from '../chat/prompt-cache.js';
import { asArray, asRecord, type JsonRecord, parseJson } from '../http/json.js';
import { type ReadContent, readContents } from './content-turns.js';
import { refuseContent } from './gemini-errors.js';

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...['contents', 'systemInstruction', 'tools', 'toolConfig', 'safetySettings'],
  ...['generationConfig', 'cachedContent', 'serviceTier'],
]);
const KNOWN_CONFIG: ReadonlySet<string> = new Set([
  ...['temperature', 'topP', 'topK', 'candidateCount', 'maxOutputTokens', 'stopSequences', 'seed'],
  ...['presencePenalty', 'frequencyPenalty', 'responseMimeType', 'responseSchema'],
  ...['responseJsonSchema', 'responseModalities', 'speechConfig', 'thinkingConfig', 'imageConfig'],
  ...['mediaResolution', 'responseLogprobs', 'logprobs'],
]);
const MAX_STOPS = 5;
const MAX_SEED = 2_147_483_647;
const LEVELS: readonly unknown[] = ['minimal', 'low', 'medium', 'high'];
const FUNCTION_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/;

/** A request for content. */
export interface ContentRequest extends AskedChat {
  /** What is to be made. */
  readonly modality: 'TEXT' | 'IMAGE' | 'AUDIO';
  readonly config: JsonRecord;
  /** Whether thoughts are wanted, and shown; undefined where nothing is said of them. */
  readonly thinking: 'shown' | 'hidden' | undefined;
  /** The prompt in the order in which it is cached. */
  readonly prompt: readonly PromptBlock[];
}

/** Reads and validates a request body as the vendor does; 400 with the path of the field. */
export function readContentRequest(body: Buffer, model: string, isStream: boolean): ContentRequest {
  const request = asRecord(parseJson(body)) ?? refuseContent('Invalid JSON payload received.');
  refuseUnknown(request, KNOWN_FIELDS, '');
  const config = asRecord(request.generationConfig) ?? {};
  refuseUnknown(config, KNOWN_CONFIG, 'generation_config.');
  checkNumbers(config);
  const contents = readContents(request.contents, model);
  const system = readSystem(request.systemInstruction);
  return {
    model,
    texts: [...system, ...contents.map(({ text }) => text)],
    ...lastTurn(contents),
    imageCount: contents.reduce((sum, { images }) => sum + images, 0),
    isStream,
    maxTokens: config.maxOutputTokens === undefined ? undefined : Number(config.maxOutputTokens),
    stops: readStops(config.stopSequences),
    tools: readTools(request.tools),
    toolChoice: readToolChoice(request.toolConfig),
    responseFormat: readFormat(config),
    modality: readModality(config),
    config,
    thinking: readThinking(config.thinkingConfig),
    prompt: promptOf([JSON.stringify(request.tools ?? []), ...system], contents),
  };
}

/** The vendor caches by itself, so that every block may be read the next time. */
function promptOf(heads: readonly string[], contents: readonly ReadContent[]): PromptBlock[] {
  return [...heads, ...contents.map(({ text }) => text)].map((text) => ({ text, cache: '5m' }));
}

function refuseUnknown(object: JsonRecord, known: ReadonlySet<string>, path: string): void {
  const unknown = Object.keys(object).find((name) => !known.has(name));
  if (unknown === undefined) return;
  refuseContent(
    `Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`,
    path + unknown,
  );
}

function checkNumbers(config: JsonRecord): void {
  const check = (name: string, min: number, max: number, isWhole = false): void => {
    const value = config[name];
    if (value === undefined) return;
    const fits = typeof value === 'number' && value >= min && value <= max;
    if (fits && (!isWhole || Number.isInteger(value))) return;
    refuseContent(`${name} must be from ${min} to ${max}`, `generation_config.${name}`);
  };
  check('temperature', 0, 2);
  check('topP', 0, 1);
  check('topK', 1, 1_000, true);
  check('candidateCount', 1, 1, true);
  check('maxOutputTokens', 1, MAX_SEED, true);
  check('seed', -MAX_SEED, MAX_SEED, true);
}

function readSystem(value: unknown): string[] {
  if (value === undefined) return [];
  const parts = asArray(asRecord(value)?.parts);
  if (parts === undefined) return refuseContent('Expected parts', 'system_instruction.parts');
  return parts.map((part, index) => {
    const text = asRecord(part)?.text;
    const path = `system_instruction.parts[${index}]`;
    return typeof text === 'string' ? text : refuseContent('Only text is supported', path);
  });
}

function readStops(value: unknown): string[] {
  const stops = (asArray(value) ?? []).filter((stop) => typeof stop === 'string');
  if (stops.length > MAX_STOPS)
    refuseContent('Too many stop sequences', 'generation_config.stop_sequences');
  return stops;
}

function readTools(value: unknown): OfferedTool[] {
  return (asArray(value) ?? []).flatMap((tool, at) =>
    (asArray(asRecord(tool)?.functionDeclarations) ?? []).map((entry, index) => {
      const { name, parameters, parametersJsonSchema } = asRecord(entry) ?? {};
      const path = `tools[${at}].function_declarations[${index}].name`;
      if (typeof name !== 'string' || !FUNCTION_NAME.test(name)) {
        return refuseContent('Invalid function name.', path);
      }
      return { name, parameters: parametersJsonSchema ?? parameters };
    }),
  );
}

function readToolChoice(value: unknown): string {
  const { mode, allowedFunctionNames } = asRecord(asRecord(value)?.functionCallingConfig) ?? {};
  const [only] = asArray(allowedFunctionNames) ?? [];
  if (mode === 'ANY') return typeof only === 'string' ? only : 'required';
  return mode === 'NONE' ? 'none' : 'auto';
}

function readFormat(config: JsonRecord): JsonRecord | undefined {
  const { responseMimeType, responseJsonSchema, responseSchema } = config;
  const schema = responseJsonSchema ?? responseSchema;
  if (schema !== undefined) return { type: 'json_schema', json_schema: { schema } };
  return responseMimeType === 'application/json' ? { type: 'json_object' } : undefined;
}

function readModality({ responseModalities }: JsonRecord): ContentRequest['modality'] {
  const wanted = asArray(responseModalities) ?? [];
  if (wanted.includes('IMAGE')) return 'IMAGE';
  return wanted.includes('AUDIO') ? 'AUDIO' : 'TEXT';
}

function readThinking(value: unknown): ContentRequest['thinking'] {
  const config = asRecord(value);
  if (config === undefined) return undefined;
  const { thinkingLevel: level, thinkingBudget: budget, includeThoughts } = config;
  const path = 'generation_config.thinking_config';
  if (level !== undefined && !LEVELS.includes(level))
    refuseContent('Unknown thinking level', `${path}.thinking_level`);
  if (budget !== undefined && (!Number.isInteger(budget) || Number(budget) < -1)) {
    refuseContent('Invalid thinking budget', `${path}.thinking_budget`);
  }
  if (budget === 0) return undefined;
  return includeThoughts === true ? 'shown' : 'hidden';
}
