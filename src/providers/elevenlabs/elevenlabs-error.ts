import { isJsonObject } from '../../common/json-object.js';
import type { ErrorFinding } from '../http/error-classification.js';
import { textAt } from '../http/json-fields.js';
import type { ProviderErrorKind } from '../http/provider-error.js';

const KIND_BY_CODE: ReadonlyMap<string, ProviderErrorKind> = new Map([
  ['max_character_limit_exceeded', 'too_long'],
  ['voice_not_found', 'misconfigured'],
  ['model_not_found', 'misconfigured'],
  ['system_busy', 'rate_limited'],
  ['quota_exceeded', 'account'],
]);

/** Codes that refuse the content whatever the status is, including 403. */
const CONTENT_REFUSAL = /moderation|policy|prohibited|blocked|bad_prompt/;

/** Reads `{detail}`: an object with `code` or the older `status`, a list of field errors, or a plain string. */
export function classifyElevenLabsError(status: number, body: unknown): ErrorFinding {
  const detail = isJsonObject(body) ? body.detail : undefined;
  if (typeof detail === 'string') return { message: detail };
  if (Array.isArray(detail)) return fieldFindingOf(detail[0]);
  if (!isJsonObject(detail)) return {};
  const code = textAt(detail, 'code') ?? textAt(detail, 'status') ?? undefined;
  return {
    code,
    kind: code === undefined ? undefined : kindOf(status, code),
    param: textAt(detail, 'param') ?? undefined,
    message: textAt(detail, 'message') ?? undefined,
  };
}

function kindOf(status: number, code: string): ProviderErrorKind | undefined {
  const isRefusal = status >= 400 && status < 500 && status !== 429 && CONTENT_REFUSAL.test(code);
  return KIND_BY_CODE.get(code) ?? (isRefusal ? 'rejected' : undefined);
}

/** A field error: `{loc: ["body", "text"], msg, type}`. */
function fieldFindingOf(item: unknown): ErrorFinding {
  if (!isJsonObject(item)) return {};
  const loc: unknown = item.loc;
  return {
    code: textAt(item, 'type') ?? undefined,
    message: textAt(item, 'msg') ?? undefined,
    param: Array.isArray(loc) ? pathOf(loc.slice(1)) : undefined,
  };
}

/** Undefined when a step is neither a name nor an index. */
function pathOf(steps: readonly unknown[]): string | undefined {
  const isPath = steps.every((step) => ['string', 'number'].includes(typeof step));
  return isPath ? steps.join('.') : undefined;
}
