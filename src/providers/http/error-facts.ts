import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { listAt, numberAt, textAt } from './json-fields.js';

/** What a vendor's error says, in whichever of the known shapes. Texts are the vendor's own. */
export interface ErrorFacts {
  /** Codes in the order in which they count: code, status, type. */
  readonly words: readonly string[];
  readonly message?: string | undefined;
  /** The message where it has the form of a code: vendors whose errors are texts write their codes there. */
  readonly textWord?: string | undefined;
  /** Path of the field that is wrong, such as `messages[0].content`. */
  readonly param?: string | undefined;
  /** An HTTP status that the body names. */
  readonly status?: number | undefined;
  /** A number that is the vendor's own and no HTTP status, and the field that has it. */
  readonly number?: { readonly field: 'base_resp' | 'code'; readonly code: number } | undefined;
  /** The vendor lists what it found wrong with the content. */
  readonly isFlagged: boolean;
  /** The objects in which the error is described, the innermost first. */
  readonly layers: readonly JsonObject[];
}

/** Maximum depth of nested errors that are read. */
const MAX_LAYERS = 4;
const WORD_FIELDS = ['code', 'error_code', 'err_code', 'status', 'type', 'error_type'];
const STATUS_FIELDS = ['code', 'status', 'status_code', 'http_code', 'statusCode'];
const MESSAGE_FIELDS = ['message', 'msg', 'err_msg', 'status_msg', 'error', 'detail', 'title'];
const PARAM_FIELDS = ['param', 'field'];

/**
 * Whether a 2xx body that should hold a result is an error: it, or one of its choices, has an error, or it has no
 * choices and describes one.
 */
export function carriesError(body: unknown): boolean {
  if (Array.isArray(body)) return body.some(carriesError);
  if (!isJsonObject(body)) return false;
  const { error, type, object, base_resp: minimax, choices } = body;
  if (isError(error) || type === 'error' || object === 'error') return true;
  if (isJsonObject(minimax) && Boolean(minimax.status_code)) return true;
  if (Array.isArray(choices)) return choices.some(isFailedChoice);
  return describesError(body);
}

/** Whether a choice of a completion or a chunk is an error instead of a response. */
export function isFailedChoice(choice: unknown): boolean {
  return isJsonObject(choice) && (isError(choice.error) || choice.finish_reason === 'error');
}

/** Some vendors write an empty object into every good response. */
function isError(value: unknown): boolean {
  return isJsonObject(value) ? Object.keys(value).length > 0 : Boolean(value);
}

function describesError({ detail, message, code, status, request_id: id }: JsonObject): boolean {
  if (detail !== undefined && detail !== null) return true;
  if (typeof message !== 'string') return false;
  const hasCode = code !== undefined && code !== null && code !== 0 && code !== '0';
  return hasCode || typeof id === 'string' || isStatus(status);
}

/** Reads a body in any of the shapes that vendors use. Undefined where there is nothing to read. */
export function errorFactsOf(body: unknown): ErrorFacts | undefined {
  if (typeof body === 'string') return factsOf([{ message: body }]);
  const layers = layersOf(body);
  return layers.length > 0 ? factsOf(layers) : undefined;
}

function layersOf(body: unknown): JsonObject[] {
  const layers: JsonObject[] = [];
  let next: unknown = body;
  while (next !== undefined && layers.length < MAX_LAYERS) {
    const layer: unknown = Array.isArray(next) ? next[0] : next;
    if (!isJsonObject(layer)) break;
    layers.unshift(layer);
    next = innerOf(layer);
  }
  return layers;
}

function innerOf(layer: JsonObject): unknown {
  const { error, errors, detail, choices, base_resp: minimax } = layer;
  const inner = [error, errors, detail, minimax].find(
    (value) => typeof value === 'object' && value !== null,
  );
  return inner ?? (Array.isArray(choices) ? choices.find(isFailedChoice) : undefined);
}

function factsOf(layers: readonly JsonObject[]): ErrorFacts {
  const status = first(layers, statusIn);
  const message = first(layers, messageIn);
  return {
    words: layers.flatMap(wordsIn),
    message,
    textWord: message !== undefined && CODE_TEXT.test(message) ? message : undefined,
    param: first(layers, paramIn),
    status,
    number: first(layers, numberIn),
    isFlagged: layers.some(({ metadata }) => isJsonObject(metadata) && isFilled(metadata.reasons)),
    layers,
  };
}

const CODE_TEXT = /^[A-Za-z]+([_-][A-Za-z]+)+$/;

function first<T>(
  layers: readonly JsonObject[],
  read: (layer: JsonObject) => T | undefined,
): T | undefined {
  for (const layer of layers) {
    const found = read(layer);
    if (found !== undefined) return found;
  }
  return undefined;
}

function wordsIn(layer: JsonObject): string[] {
  const details = listAt(layer, 'details') ?? [];
  return [...WORD_FIELDS.map((name) => textAt(layer, name)), ...details.map(reasonOf)].filter(
    (word): word is string => word !== null && word !== '' && word !== 'error',
  );
}

function reasonOf(detail: JsonObject): string | null {
  return textAt(detail, 'reason');
}

function statusIn(layer: JsonObject): number | undefined {
  return STATUS_FIELDS.map((name) => Number(layer[name])).find(isStatus);
}

function isStatus(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 400 && Number(value) < 600;
}

function numberIn(layer: JsonObject): ErrorFacts['number'] {
  const minimax = numberAt(layer, 'status_code');
  if (minimax !== null && 'status_msg' in layer) return { field: 'base_resp', code: minimax };
  const code = numberAt(layer, 'code');
  return code === null || isStatus(code) ? undefined : { field: 'code', code };
}

function messageIn(layer: JsonObject): string | undefined {
  return MESSAGE_FIELDS.map((name) => textAt(layer, name)).find(
    (text): text is string => text !== null && text !== '',
  );
}

function paramIn(layer: JsonObject): string | undefined {
  const { loc } = layer;
  if (Array.isArray(loc)) return pathOf(loc);
  const named = PARAM_FIELDS.map((name) => textAt(layer, name)).find(Boolean);
  if (named) return named;
  const [violation] = (listAt(layer, 'details') ?? []).flatMap(
    (detail) => listAt(detail, 'fieldViolations') ?? [],
  );
  return (violation && textAt(violation, 'field')) ?? undefined;
}

/** `["body", "inputs", 3, "text"]`; undefined when a step is neither a name nor an index. */
function pathOf(loc: readonly unknown[]): string | undefined {
  const steps = loc[0] === 'body' ? loc.slice(1) : loc;
  const isPath = steps.every((step) => typeof step === 'string' || typeof step === 'number');
  return isPath && steps.length > 0 ? steps.join('.') : undefined;
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}
