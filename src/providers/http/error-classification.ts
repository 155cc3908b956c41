import { codeWordOf } from './code-word.js';
import { type ErrorFacts, errorFactsOf } from './error-facts.js';
import { kindOfNumber, kindOfSentence, kindOfWord } from './error-words.js';
import type { ProviderErrorKind } from '../ports/attempt.js';
import { waitInBody, waitInHeaders } from './retry-after.js';

/** A response that is an error, by its status or by the body of a 2xx response. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** As JSON; null when there is none. */
  readonly body: unknown;
}

/** The meaning of an error response. */
export interface ErrorFinding {
  readonly kind: ProviderErrorKind;
  /** The status of the response; of a 2xx the one that its body names or that its kind usually has. */
  readonly status: number;
  /** The provider's own words. */
  readonly code?: string | undefined;
  /** Path of the field that is wrong, such as `messages[0].content`. */
  readonly param?: string | undefined;
  readonly message?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** The protocol itself says that the content was refused. */
  readonly isContentRefusal?: boolean | undefined;
}

/** Errors that only this protocol uses; undefined if the general classification is right. */
export type OwnErrors = (
  status: number,
  body: unknown,
) =>
  | (Partial<Pick<ErrorFinding, 'kind' | 'status'>> &
      Pick<ErrorFinding, 'code' | 'message' | 'retryAfterSeconds' | 'isContentRefusal'>)
  | undefined;

const KIND_BY_STATUS: Readonly<Record<number, ProviderErrorKind>> = {
  401: 'account',
  402: 'account',
  403: 'account',
  404: 'misconfigured',
  405: 'misconfigured',
  // A proxy between the gateway and the provider requires authentication.
  407: 'account',
  408: 'timeout',
  421: 'misconfigured',
  426: 'misconfigured',
  429: 'rate_limited',
  503: 'unavailable',
  504: 'timeout',
  529: 'unavailable',
};
/**
 * The usual status of a kind. A failure without one is not mapped, because it is unknown what the provider has done.
 */
const STATUS_BY_KIND: Readonly<Partial<Record<ProviderErrorKind, number>>> = {
  rejected: 400,
  too_long: 400,
  rate_limited: 429,
  unavailable: 503,
  account: 403,
  misconfigured: 404,
  timeout: 504,
};

/**
 * Classifies an error response of any vendor: a status that is not 2xx, or a 2xx whose body says that it failed
 * (vendors write errors in a dozen shapes). What the vendor's code says counts before the status, and the status before
 * general words.
 * @param nowMs the present, milliseconds since the epoch
 */
export function classifyError(
  { status, headers, body }: ErrorResponse,
  nowMs: number,
  own?: OwnErrors,
): ErrorFinding {
  const facts = errorFactsOf(body) ?? NO_FACTS;
  const named = own?.(status, body) ?? {};
  const effectiveStatus = named.status ?? (isSuccess(status) ? facts.status : status);
  const kind = named.kind ?? kindOf(facts, effectiveStatus);
  const {
    code = codeOf(facts, kind),
    message = facts.message,
    retryAfterSeconds: wait,
    isContentRefusal,
  } = named;
  return {
    kind,
    status: effectiveStatus ?? STATUS_BY_KIND[kind] ?? status,
    code,
    param: facts.param,
    message,
    retryAfterSeconds: wait ?? waitOf(headers, facts, nowMs),
    isContentRefusal,
  };
}

function waitOf(headers: ErrorResponse['headers'], { layers }: ErrorFacts, nowMs: number) {
  return waitInHeaders(headers, nowMs) ?? waitInBody(layers, nowMs);
}

/**
 * The kind of a response that is not 2xx, from its status alone. Other 4xx mean that the request is rejected;
 * everything else is a failure, redirects too.
 */
export function kindOfStatus(status: number): ProviderErrorKind {
  return KIND_BY_STATUS[status] ?? (status >= 400 && status < 500 ? 'rejected' : 'http_error');
}

const NO_FACTS: ErrorFacts = { words: [], isFlagged: false, layers: [] };

function kindOf(facts: ErrorFacts, status: number | undefined): ProviderErrorKind {
  const { words, textWord = '', message, number, isFlagged, layers } = facts;
  for (const word of [...words, textWord]) {
    const kind = kindOfWord(codeWordOf(word) ?? '', status);
    if (kind !== undefined) return kind;
  }
  const ofSentence = message === undefined ? undefined : kindOfSentence(message);
  if (ofSentence !== undefined) return ofSentence;
  if (layers.some((layer) => typeof layer.estimated_time === 'number')) return 'unavailable';
  if (isFlagged) return 'rejected';
  const ofNumber = number && kindOfNumber(number.field, number.code);
  return ofNumber ?? (status === undefined ? 'http_error' : kindOfStatus(status));
}

/**
 * The first word that has the form of a code, else the first text, for the record. A text is treated as a code for
 * rejections only: for other statuses, intermediate servers write texts of their own.
 */
function codeOf(
  { words, textWord, number }: ErrorFacts,
  kind: ProviderErrorKind,
): string | undefined {
  const code = words.find((word) => codeWordOf(word) !== undefined) ?? words[0];
  return code ?? (kind === 'rejected' ? textWord : undefined) ?? number?.code.toString();
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Error codes of the transport which mean that an open connection timed out. */
const TIMEOUT_CODES = ['ECONNABORTED', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];

/** The kind of an attempt whose connection broke before or within the response. */
export function kindOfTransportFault(sent: boolean, code: string | undefined): ProviderErrorKind {
  if (!sent) return 'unavailable';
  return code !== undefined && TIMEOUT_CODES.includes(code) ? 'timeout' : 'http_error';
}
