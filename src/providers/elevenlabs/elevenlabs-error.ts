import type { ErrorFinding } from '../http/error-classification.js';
import type { ProviderErrorKind } from '../http/provider-error.js';

const KIND_BY_CODE: Readonly<Record<string, ProviderErrorKind>> = {
  max_character_limit_exceeded: 'too_long',
  voice_not_found: 'misconfigured',
  model_not_found: 'misconfigured',
  system_busy: 'rate_limited',
  quota_exceeded: 'account',
};

/** Codes by which content is refused whatever the status says, 403 included. */
const CONTENT_REFUSAL = /moderation|policy|prohibited|blocked|bad_prompt/;

/**
 * Reads `{detail}`: an object with `code` or the older `status`, a list of field errors, or a plain
 * string. Only the code is used; the message is the provider's own text.
 */
export function classifyElevenLabsError(status: number, body: unknown): ErrorFinding {
  const code = codeOf(body);
  if (code === undefined) return {};
  const isRefusal = status >= 400 && status < 500 && status !== 429 && CONTENT_REFUSAL.test(code);
  return { code, kind: KIND_BY_CODE[code] ?? (isRefusal ? 'rejected' : undefined) };
}

function codeOf(body: unknown): string | undefined {
  const detail: unknown = (body as { detail?: unknown } | null)?.detail;
  if (typeof detail !== 'object' || detail === null) return undefined;
  const { code, status } = detail as { code?: unknown; status?: unknown };
  return [code, status].find((value) => typeof value === 'string');
}
