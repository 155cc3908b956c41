import type { ProviderErrorKind } from '../ports/attempt.js';

type Kinds = Readonly<Partial<Record<ProviderErrorKind, readonly string[]>>>;

/** Code words (G-96's form) that decide whatever the status is. */
const STRONG: Kinds = {
  account: [
    ...[
      'insufficient_quota',
      'insufficient_user_quota',
      'quota_exceeded',
      'exceeded_current_quota_error',
    ],
    ...[
      'detected_unusual_activity',
      'billing_hard_limit_reached',
      'billing_not_active',
      'billing_error',
    ],
    ...[
      'insufficient_balance',
      'insufficient_credits',
      'insufficient_credit',
      'insufficient_funds',
    ],
    ...['credit_balance_too_low', 'credits_exhausted', 'payment_required', 'arrearage'],
    ...['account_deactivated', 'account_overdue_error', 'account_overdue'],
    ...[
      'invalid_api_key',
      'api_key_invalid',
      'incorrect_api_key',
      'api_key_expired',
      'missing_api_key',
    ],
  ],
  rate_limited: [
    ...[
      'rate_limit_exceeded',
      'rate_limit_error',
      'rate_limited',
      'rate_limit',
      'too_many_requests',
    ],
    ...['resource_exhausted', 'too_many_concurrent_requests', 'concurrent_limit_exceeded'],
  ],
  unavailable: [
    ...['server_is_overloaded', 'slow_down', 'overloaded', 'overloaded_error', 'server_overloaded'],
    ...[
      'engine_overloaded',
      'engine_overloaded_error',
      'model_overloaded',
      'system_busy',
      'server_busy',
    ],
    ...[
      'model_is_overloaded',
      'model_busy',
      'model_loading',
      'model_not_ready',
      'capacity_exceeded',
    ],
  ],
  misconfigured: ['model_not_found', 'voice_not_found', 'model_not_exist', 'deployment_not_found'],
  too_long: ['max_character_limit_exceeded'],
  rejected: [
    ...['content_policy_violation', 'moderation_blocked', 'content_filter', 'content_filtered'],
    ...['context_length_exceeded', 'string_above_max_length', 'sensitive_content_detected'],
    ...['invalid_prompt', 'invalid_image', 'invalid_image_url', 'invalid_base64_image'],
  ],
};

/** Words that only repeat a status. They decide if neither the response nor its body has one. */
const WEAK: Kinds = {
  account: [
    ...['authentication_error', 'unauthenticated', 'unauthorized', 'invalid_authentication'],
    ...['permission_error', 'permission_denied', 'forbidden', 'access_denied'],
  ],
  rejected: [
    ...[
      'invalid_request_error',
      'invalid_request',
      'invalid_argument',
      'invalid_params',
      'bad_request',
    ],
    ...['bad_request_error', 'validation_error', 'failed_precondition', 'out_of_range'],
    ...[
      'unprocessable_entity',
      'unprocessable_entity_error',
      'request_too_large',
      'unsupported_value',
    ],
  ],
  misconfigured: ['not_found', 'not_found_error'],
  unavailable: ['unavailable', 'service_unavailable', 'service_unavailable_error'],
  timeout: ['timeout', 'timeout_error', 'deadline_exceeded', 'request_timeout', 'gateway_timeout'],
};

const STRONG_WORDS = byWord(STRONG);
const WEAK_WORDS = byWord(WEAK);
/** Codes of rejected content, with any 4xx status. */
const REFUSAL =
  /moderation|policy|prohibited|blocked|bad_prompt|sensitive|safety|inappropriate|nsfw/;
/** Statuses that never mean rejected content, whatever the words are. */
const NO_REFUSAL: readonly number[] = [401, 402, 429];

/**
 * Sentences that have the same meaning for every vendor. They must not match after a quotation, so that text of the
 * caller cannot decide.
 */
const SENTENCES: readonly (readonly [RegExp, ProviderErrorKind])[] = [
  [/^[^"'`{]{0,80}credit balance is too low/i, 'account'],
  [/^(the |your )?api key (is )?(not valid|invalid|expired)/i, 'account'],
  [/^(incorrect|invalid) api key/i, 'account'],
  [/^(insufficient (balance|credit|quota|funds)|you exceeded your current quota)/i, 'account'],
  [/^user is locked|^[^"'`{]{0,40}exhausted balance/i, 'account'],
  [/^[^"'`{]{0,120}\b(is|are) (currently )?(loading|overloaded)\b/i, 'unavailable'],
  [/^(server |system |model )?(is )?(overloaded|busy)\b/i, 'unavailable'],
];

/** Numbers of `base_resp` (MiniMax). */
const BASE_RESP: Readonly<Record<number, ProviderErrorKind>> = {
  ...of('rate_limited', [1002, 1039, 1041]),
  ...of('account', [1004, 1008, 2049]),
  ...of('rejected', [1026, 1027, 1042, 2013, 20132]),
  1001: 'timeout',
};
/** Ranges of a bare `code` (Kling). */
const CODES: readonly (readonly [from: number, to: number, ProviderErrorKind])[] = [
  [1000, 1004, 'account'],
  [1100, 1103, 'account'],
  [1200, 1203, 'rejected'],
  [1300, 1301, 'rejected'],
  [1302, 1303, 'rate_limited'],
];

/** The kind that a code word decides. `status` is undefined where neither the response nor its body has one. */
export function kindOfWord(
  word: string,
  status: number | undefined,
): ProviderErrorKind | undefined {
  const strong = STRONG_WORDS.get(word);
  if (strong !== undefined) return strong;
  const isClientError = status === undefined || (status >= 400 && status < 500);
  if (isClientError && !NO_REFUSAL.includes(status ?? 0) && REFUSAL.test(word)) return 'rejected';
  return status === undefined ? WEAK_WORDS.get(word) : undefined;
}

/** The kind that a sentence decides. */
export function kindOfSentence(message: string): ProviderErrorKind | undefined {
  return SENTENCES.find(([sentence]) => sentence.test(message))?.[1];
}

/** The kind that a vendor's own number decides. */
export function kindOfNumber(
  field: 'base_resp' | 'code',
  code: number,
): ProviderErrorKind | undefined {
  if (field === 'base_resp') return BASE_RESP[code];
  return CODES.find(([from, to]) => code >= from && code <= to)?.[2];
}

function byWord(kinds: Kinds): ReadonlyMap<string, ProviderErrorKind> {
  const entries = Object.entries(kinds) as [ProviderErrorKind, readonly string[]][];
  return new Map(entries.flatMap(([kind, words]) => words.map((word) => [word, kind] as const)));
}

function of(kind: ProviderErrorKind, codes: readonly number[]) {
  return Object.fromEntries(codes.map((code) => [code, kind]));
}
