import { isJsonObject } from '../json-object.js';
import type { ErrorCode } from '../errors/error-table.js';
import { GatewayError } from '../errors/gateway-error.js';
import { isBlank } from './text-rule.js';

/**
 * The `model` of a parsed body, before its other fields are checked (decision G-01): a guard calls this, then the
 * catalog is asked, then the pipe checks the rest. Throws `code` with param null when the body is no object, and with
 * param `model` when the field is missing, blank or no string (decisions G-07, G-77).
 */
export function readModelId(body: unknown, code: ErrorCode = 'invalid_request'): string {
  if (!isJsonObject(body)) throw new GatewayError(code, 'The body must be a JSON object.');
  const { model } = body;
  if (typeof model !== 'string' || isBlank(model)) {
    throw new GatewayError(code, 'model is required and must be a string.', { param: 'model' });
  }
  return model;
}
