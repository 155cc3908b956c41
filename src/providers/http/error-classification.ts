import type { ProviderErrorKind } from './provider-error.js';

/** What the body of an error answer tells in addition to the status. Undefined: the status alone decides. */
export type ErrorClassifier = (status: number, body: unknown) => ErrorFinding;

/** The provider's own words, and the kind of error when its code decides it. */
export interface ErrorFinding {
  readonly code?: string | undefined;
  readonly kind?: ProviderErrorKind | undefined;
  /** Path of the field that is wrong, such as `messages[0].content`. */
  readonly param?: string | undefined;
  readonly message?: string | undefined;
}

const KIND_BY_STATUS: Readonly<Record<number, ProviderErrorKind>> = {
  401: 'account',
  402: 'account',
  403: 'account',
  404: 'misconfigured',
  405: 'misconfigured',
  408: 'timeout',
  429: 'rate_limited',
  503: 'unavailable',
  504: 'timeout',
};

/**
 * The kind of an answer that is not 2xx, from its status alone. Other 4xx mean that the request is refused; everything
 * else is a failure, redirects too.
 */
export function kindOfStatus(status: number): ProviderErrorKind {
  return KIND_BY_STATUS[status] ?? (status >= 400 && status < 500 ? 'rejected' : 'http_error');
}

/**
 * Whole seconds of a `Retry-After` header, which holds a number of seconds or an HTTP date.
 * @param nowMs the present, milliseconds since the epoch
 */
export function retryAfterSeconds(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string' || header.trim() === '') return undefined;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(header)
    ? Number(header)
    : (Date.parse(header) - nowMs) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined;
}

/** Error codes of the transport which mean that an open connection timed out. */
const TIMEOUT_CODES = ['ECONNABORTED', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];

/** The kind of an attempt that broke before or within its answer. */
export function kindOfTransportFault(sent: boolean, code: string | undefined): ProviderErrorKind {
  if (!sent) return 'unavailable';
  return code !== undefined && TIMEOUT_CODES.includes(code) ? 'timeout' : 'http_error';
}
