import { isJsonObject } from '../json-object.js';
import type { ErrorCode } from '../errors/error-table.js';
import { GatewayError } from '../errors/gateway-error.js';
import { isBlank } from './text-rule.js';

/**
 * The `model` of a parsed body, before its other fields are checked (decision G-01): a guard calls this, then it looks
 * the model up in the catalog, then the pipe checks the rest. Throws `code` with param null if the body is not an
 * object, and with param `model` if the field is missing, blank or not a string (decisions G-07, G-77).
 */
export function readModelId(body: unknown, code: ErrorCode = 'invalid_request'): string {
  if (!isJsonObject(body)) throw new GatewayError(code, 'The body must be a JSON object.');
  const { model } = body;
  if (typeof model !== 'string' || isBlank(model)) {
    throw new GatewayError(code, 'model is required and must be a string.', { param: 'model' });
  }
  return model;
}
