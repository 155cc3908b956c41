import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { FailedJob, JobFailure, PendingJob } from '../ports/job.port.js';
import { asRequestId, textAt } from './json-fields.js';
import { type ProviderContext, withoutKey } from './provider-context.js';

/** Words for a job that is not finished. */
const PENDING = new Set(
  [
    'accepted created dreaming dubbing generating in_progress in_queue initializing not_start not_started on_queue pending',
    'pending_queue preparing processing queued queueing running scheduled starting started streaming submitted',
    'throttled unknown waiting working',
  ].flatMap((line) => line.split(' ').map(spelling)),
);
/** Words for a job that has produced a result. */
const SUCCEEDED = new Set(
  'complete completed done finished ready succeed succeeded success successful'
    .split(' ')
    .map(spelling),
);
/** Words for a job that has failed. These plain ones contain no reason. */
const PLAIN_FAILURES = ['fail', 'failed', 'failure', 'error', 'errored'];
const FAILED = new Set([
  ...PLAIN_FAILURES,
  ...[
    'aborted blocked canceled cancelled censored content_filter content_filtered content_policy_violation create_task_failed',
    'declined deleted denied exception expired generate_audio_failed generation_failed internal_error moderated',
    'moderation_blocked nsfw refused rejected sensitive sensitive_word_error terminated timed_out timeout unsafe unsuccessful',
  ].flatMap((line) => line.split(' ').map(spelling)),
]);
const MAX_WORD_CHARACTERS = 64;
/** How the empty word is shown. */
const EMPTY = '(empty)';
const UNPRINTABLE = /[^\x20-\x7e]/g;
/** Where vendors put the code and the reason of a failure, in the order in which they are looked for. */
const CODE_FIELDS = ['code', 'error_code', 'errorCode', 'failure_code', 'failureCode', 'fail_code'];
const REASON_FIELDS = [
  ...['message', 'error_message', 'errorMessage', 'failure_reason', 'failureReason', 'failure'],
  ...['fail_reason', 'failReason', 'detail', 'reason', 'msg'],
];

/** Whether a vendor's word says that a job, or the request for one, has failed. */
export function isFailureWord(word: unknown): boolean {
  return typeof word === 'string' && FAILED.has(spelling(word));
}

/** Whether a vendor's word says that a job has succeeded. */
export function isSuccessWord(word: string): boolean {
  return SUCCEEDED.has(spelling(word));
}

/**
 * The state of a job that has not succeeded, from the vendor's own word for it. Words are compared without case,
 * hyphens, underscores and spaces. An unknown word counts as pending and is reported.
 */
export function unfinishedJob(
  word: string,
  json: JsonObject,
  requestId: string | null,
  progress: number | null,
): PendingJob | FailedJob {
  const known = spelling(word);
  if (FAILED.has(known))
    return { state: 'failed', failure: jobFailure(json, requestId, codeOf(word)) };
  return PENDING.has(known) ? { state: 'pending', progress } : unknownJob(word, progress);
}

/** A job whose state has an unknown word, which is reported. */
export function unknownJob(word: string, progress: number | null): PendingJob {
  const shown = word.replaceAll(UNPRINTABLE, '?').slice(0, MAX_WORD_CHARACTERS);
  const unknownState = shown === '' ? EMPTY : shown;
  return { state: 'pending', progress, unknownState };
}

/**
 * Why a job failed: the code and the message of `error`, which may be a text, or of the response itself. A state that is a reason,
 * such as `content_filtered`, is the code where there is no other.
 */
export function jobFailure(
  json: JsonObject,
  requestId: string | null,
  state: string | null = null,
): JobFailure {
  const { error } = json;
  const reason = typeof error === 'string' && error !== '' ? error : null;
  const inner = isJsonObject(error) ? error : {};
  const places = [inner, json, isJsonObject(json.data) ? json.data : {}];
  return {
    code:
      firstOf(places, CODE_FIELDS) ?? textAt(inner, 'type') ?? wordOf(reason) ?? reasonIn(state),
    message: reason ?? firstOf(places, REASON_FIELDS),
    requestId,
  };
}

/** The failure of a job that is reported as finished but carries an error; undefined without one. */
export function failureOfFinished(
  json: JsonObject,
  requestId: string | null,
): FailedJob | undefined {
  const { error } = json;
  const hasState =
    typeof error === 'string'
      ? error.trim() !== ''
      : isJsonObject(error) && Object.keys(error).length > 0;
  return hasState ? { state: 'failed', failure: jobFailure(json, requestId) } : undefined;
}

/**
 * A report about a job without the provider's key in the words that the provider gave; any other value as it is, but without an id of
 * the request that holds the key, or that a record cannot keep.
 */
export function jobWithoutKey<T>(access: Pick<ProviderContext, 'apiKey' | 'vendor'>, report: T): T {
  if (!isUnmade(report)) return withKnownId(access, report);
  if (report.state === 'pending') {
    return { ...report, unknownState: withoutKey(access, report.unknownState) };
  }
  const { code, message, requestId, ...rest } = report.failure;
  const clean = (text: string | null) => text && withoutKey(access, text);
  return {
    ...report,
    failure: { ...rest, code: clean(code), message: clean(message), requestId: clean(requestId) },
  };
}

function withKnownId<T>(access: Pick<ProviderContext, 'apiKey' | 'vendor'>, result: T): T {
  if (!isJsonObject(result) || typeof result.providerRequestId !== 'string') return result;
  const { providerRequestId: id } = result;
  const isKept = asRequestId(id) !== null && withoutKey(access, id) === id;
  return isKept ? result : { ...result, providerRequestId: null };
}

function isUnmade(report: unknown): report is FailedJob | (PendingJob & { unknownState: string }) {
  if (!isJsonObject(report)) return false;
  const { state, failure, unknownState } = report;
  return (
    (state === 'failed' && isJsonObject(failure)) ||
    (state === 'pending' && typeof unknownState === 'string')
  );
}

/** A text that is one word is a code. */
function wordOf(text: string | null): string | null {
  return text !== null && /^\S{1,64}$/.test(text) ? text : null;
}

/** A state that contains a reason beyond "failed". */
function reasonIn(state: string | null): string | null {
  return state === null || PLAIN_FAILURES.includes(state) ? null : state;
}

/** Normalizes a word: `IN_PROGRESS`, `In Progress` and `inProgress` become equal. */
function spelling(word: string): string {
  return word.toLowerCase().replaceAll(/[\s_-]/g, '');
}

/** A state in the form of a code. */
function codeOf(word: string): string {
  return word.trim().toLowerCase().replaceAll(/[\s-]/g, '_');
}

function firstOf(places: readonly JsonObject[], fields: readonly string[]): string | null {
  for (const place of places) {
    for (const field of fields) {
      const value = place[field];
      if (typeof value === 'string' && value !== '') return value;
      if (typeof value === 'number' && Number.isInteger(value) && value !== 0) return String(value);
    }
  }
  return null;
}
