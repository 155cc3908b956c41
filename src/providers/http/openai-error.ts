import { isJsonObject } from '../../common/json-object.js';
import type { ErrorFinding } from './error-classification.js';
import { textAt } from './json-fields.js';
import type { ProviderErrorKind } from './provider-error.js';

const KIND_BY_CODE: ReadonlyMap<string, ProviderErrorKind> = new Map([
  ['insufficient_quota', 'account'],
  ['billing_hard_limit_reached', 'account'],
  ['model_not_found', 'misconfigured'],
  ['server_is_overloaded', 'unavailable'],
  ['slow_down', 'unavailable'],
  ['content_policy_violation', 'rejected'],
  ['moderation_blocked', 'rejected'],
]);

/** Reads `{error:{code, type, param, message}}`. The code counts before the type. */
export function classifyOpenAiError(_status: number, body: unknown): ErrorFinding {
  const error = isJsonObject(body) ? body.error : undefined;
  if (!isJsonObject(error)) return {};
  const code = textAt(error, 'code') ?? textAt(error, 'type') ?? undefined;
  const kinds = [textAt(error, 'code'), textAt(error, 'type')].map((word) =>
    KIND_BY_CODE.get(word ?? ''),
  );
  return {
    code,
    kind: kinds.find((kind) => kind !== undefined),
    param: textAt(error, 'param') ?? undefined,
    message: textAt(error, 'message') ?? undefined,
  };
}
