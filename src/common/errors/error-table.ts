/** OpenAI-style `error.type` words; clients branch on status and code, not on type (decision G-04). */
export const ERROR_TYPES = [
  'invalid_request_error',
  'invalid_request',
  'authentication_error',
  'insufficient_quota',
  'permission_error',
  'rate_limit_error',
  'server_error',
] as const;

/** One of the words. */
export type ErrorType = (typeof ERROR_TYPES)[number];

interface ErrorRow {
  readonly status: number;
  readonly type: ErrorType;
  /** What went wrong, for the generated documentation. Clients never get it. */
  readonly meaning: string;
}

const row = (status: number, type: ErrorType, meaning: string): ErrorRow => ({
  status,
  type,
  meaning,
});
const badRequest = (meaning: string): ErrorRow => row(400, 'invalid_request_error', meaning);

/**
 * Every public error code with its HTTP status and type. No other place names an HTTP error status (API: Errors;
 * decisions G-04 to G-13).
 */
export const ERROR_TABLE = {
  invalid_request: badRequest('A field is unknown, missing or out of range.'),
  invalid_music_request: badRequest('A song task field is unknown, missing or out of range.'),
  invalid_task_command: badRequest('`webhook` or `webhook_secret` is missing or invalid.'),
  invalid_content_type: badRequest('The endpoint does not take this body type.'),
  idempotency_not_supported: badRequest(
    '`Idempotency-Key` was sent to a synchronous audio endpoint.',
  ),
  provider_rejected_request: badRequest('The provider refused the request.'),
  invalid_quote: badRequest(
    '`x-gateway-quote` was altered, or is of another account, endpoint or body.',
  ),
  previous_response_not_found: badRequest(
    'The response or item that the request continues is unknown, expired, or of another account.',
  ),
  audio_input_required: badRequest('Neither `file` nor `audio_url` was sent.'),
  invalid_multipart: badRequest('The multipart form is broken or has repeated or misplaced parts.'),
  unsupported_audio_format: badRequest(
    'The media format is unsupported or its length is unreadable.',
  ),
  audio_too_long: badRequest('The media is longer than the endpoint accepts.'),
  audio_too_short: badRequest('The media is shorter than the endpoint accepts.'),
  media_too_long: badRequest('The dubbing source is longer than 1,800 seconds.'),
  audio_download_failed: badRequest('The media URL could not be downloaded.'),
  invalid_input: badRequest('Speech `input` is missing or empty.'),
  input_too_long: badRequest('Speech `input` is longer than the model accepts.'),
  invalid_token: row(401, 'authentication_error', 'The key is missing, invalid or revoked.'),
  insufficient_user_quota: row(402, 'insufficient_quota', 'The balance cannot cover the request.'),
  insufficient_funds: row(
    402,
    'insufficient_quota',
    'The balance cannot cover the request (audio).',
  ),
  account_disabled: row(403, 'permission_error', 'The account is disabled.'),
  permission_denied: row(
    403,
    'permission_error',
    'The key lacks the scope that the request needs, or asks for more than it has itself; or the operator in the console lacks the role.',
  ),
  api_key_model_not_allowed: row(
    403,
    'permission_error',
    'The allowlist of the key excludes the model.',
  ),
  model_not_available: row(
    404,
    'invalid_request_error',
    'The audio or song model is unknown or disabled.',
  ),
  model_not_found: row(404, 'invalid_request_error', 'The model is unknown or disabled.'),
  /** Public code `model_not_found` with status 400: a known model of another kind (decision G-07). */
  model_wrong_kind: badRequest('The model does not run on this endpoint.'),
  task_not_found: row(404, 'invalid_request_error', 'No such task.'),
  run_not_found: row(404, 'invalid_request_error', 'No such run.'),
  content_not_available: row(
    404,
    'invalid_request_error',
    'The task or call has no content to download.',
  ),
  not_found: row(404, 'invalid_request_error', 'No such resource.'),
  method_not_allowed: row(405, 'invalid_request_error', 'The path exists, the method does not.'),
  idempotency_conflict: row(
    409,
    'invalid_request_error',
    'The idempotency key was used with another body.',
  ),
  quote_expired: row(409, 'invalid_request_error', 'The quote holds no longer.'),
  task_not_ready: row(409, 'invalid_request_error', 'The task has not succeeded yet.'),
  task_not_cancellable: row(
    409,
    'invalid_request_error',
    'The task was sent to its provider or has ended.',
  ),
  source_task_not_ready: row(409, 'invalid_request_error', 'The source task has not succeeded.'),
  conflict: row(409, 'invalid_request_error', 'The resource is in another state.'),
  content_expired: row(410, 'invalid_request_error', 'The media is past its retention.'),
  audio_too_large: row(413, 'invalid_request_error', 'The downloaded file is over 50 MB.'),
  request_too_large: row(413, 'invalid_request_error', 'The upload or body is too large.'),
  range_not_satisfiable: row(
    416,
    'invalid_request_error',
    'The requested range is outside the content.',
  ),
  rate_limit_exceeded: row(429, 'rate_limit_error', 'Too many requests for this key.'),
  provider_rate_limited: row(429, 'rate_limit_error', 'The provider limits the rate.'),
  internal_error: row(500, 'server_error', 'An unexpected failure.'),
  provider_http_error: row(502, 'server_error', 'The provider failed.'),
  provider_timeout: row(502, 'server_error', 'The provider did not answer in time.'),
  no_eligible_route: row(503, 'server_error', 'No route runs this model on this endpoint.'),
  provider_unavailable: row(503, 'server_error', 'All routes of the model are down.'),
  service_unavailable: row(503, 'server_error', 'The gateway cannot serve right now.'),
} as const satisfies Record<string, ErrorRow>;

/** A key of the error table. */
export type ErrorCode = keyof typeof ERROR_TABLE;

/** The code that clients see. Keys of the table that differ only in status have the same public code. */
export function publicCodeOf(code: ErrorCode): string {
  return code === 'model_wrong_kind' ? 'model_not_found' : code;
}
