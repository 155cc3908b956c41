import { isJsonObject, type JsonObject } from '../json-object.js';
import type { ErrorCode } from '../errors/error-table.js';
import { GatewayError } from '../errors/gateway-error.js';
import { nearestName } from '../nearest-name.js';
import { isBlank } from './text-rule.js';

/** So many fields of a body are compared with `model` where it has none. */
const MAX_COMPARED_FIELDS = 50;

const PATH_FORM = /^[\w.[\]]{1,200}$/;

/**
 * The path in the format of our errors (`messages.0.content` for `messages[0].content`), if the body has that field;
 * undefined if not.
 */
export function findBodyField(body: unknown, path: string): string | undefined {
  if (!PATH_FORM.test(path)) return undefined;
  const names = path.replaceAll(/\[(\d+)\]/g, '.$1').split('.');
  let value: unknown = body;
  for (const name of names) {
    if (Array.isArray(value)) value = value[Number(name)] as unknown;
    else if (isJsonObject(value) && Object.hasOwn(value, name)) value = value[name];
    else return undefined;
  }
  return value === undefined ? undefined : names.join('.');
}

/**
 * The `model` of a parsed body, before its other fields are checked (decision G-01): a guard calls this, then it looks
 * the model up in the catalog, then the pipe checks the rest. Throws `code` with param null if the body is not an
 * object, and with param `model` if the field is missing, blank or not a string (decisions G-07, G-77).
 */
export function readModelId(body: unknown, code: ErrorCode = 'invalid_request'): string {
  if (!isJsonObject(body)) throw new GatewayError(code, 'The body must be a JSON object.');
  const { model } = body;
  if (typeof model !== 'string' || isBlank(model)) {
    const message = `model is required and must be a string.${misspelledModel(body)}`;
    throw new GatewayError(code, message, { param: 'model' });
  }
  return model;
}

/** Names the field that was written for `model`, such as `modle`; empty where there is none. */
function misspelledModel(body: JsonObject): string {
  if (Object.hasOwn(body, 'model')) return '';
  const names = Object.keys(body).slice(0, MAX_COMPARED_FIELDS);
  const written = names.find((name) => nearestName(name, ['model']) !== undefined);
  return written === undefined ? '' : ` ${written} is unknown. Did you mean model?`;
}
