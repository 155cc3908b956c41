import { ProviderError } from '../../providers/http/provider-error.js';
import type { AttemptOutcome, ProviderErrorKind } from '../../providers/ports/attempt.js';
import { KEY_LIMIT } from '../../providers/routing/provider-router.js';
import type { Task } from '../task.js';
import { withCodeWord } from '../task-fault.js';
import { splitStepState } from './step-notes.js';

/** Delays after a deferred submission. The last one repeats. */
const DEFER_DELAYS_MS = [1_000, 2_000, 4_000, 5_000] as const;
/** A submission is deferred for at most this long in all. */
const DEFER_LIMIT_MS = 600_000;

/**
 * Statuses after which the provider did no work and a later attempt may succeed: too many requests, client closed the
 * request, overloaded.
 */
const DEFER_STATUSES = [429, 499, 503];
const DEFER_KINDS: readonly ProviderErrorKind[] = ['rate_limited', 'unavailable'];
/** Of these the provider's answer says that it did not take the work: our key, its rate, or no room. */
const UNBEGUN_KINDS: readonly AttemptOutcome[] = [...DEFER_KINDS, 'account'];
/** The provider refuses the work itself, as it also refuses a second job of a name that it has. */
const REFUSAL_KINDS: readonly ProviderErrorKind[] = ['rejected', 'misconfigured'];
/**
 * Statuses of proxies between the gateway and the provider. The provider may have begun the work, and the body is not the
 * provider's.
 */
const PROXY_STATUSES = [502, 504, 520, 522, 524];

/** The meaning of a failed submission (ADR 0009). */
export type SubmitFailure = 'deferred' | 'failed' | 'unknown';

/**
 * Decides whether the provider did no work and a retry may succeed (`deferred`), refused the work (`failed`), or may have begun
 * it (`unknown`). An error of the gateway itself is `unknown`.
 */
export function classifySubmitFailure(error: unknown): SubmitFailure {
  if (!(error instanceof ProviderError)) return 'unknown';
  const failure = failureOf(error);
  // What was served is not asked for again.
  return failure === 'deferred' && error.isPartial ? 'unknown' : failure;
}

function failureOf(error: ProviderError): SubmitFailure {
  const { kind, sent, upstreamStatus: status, upstreamCode } = error;
  // A command that the adapter cannot express will not become another one.
  if (!sent) return kind === 'rejected' ? 'failed' : 'deferred';
  if (status === undefined) return 'unknown';
  if (PROXY_STATUSES.includes(status)) return 'unknown';
  if (DEFER_STATUSES.includes(status) || DEFER_KINDS.includes(kind)) return 'deferred';
  if (status >= 400 && status < 500) return 'failed';
  return status >= 500 && upstreamCode !== undefined ? 'failed' : 'unknown';
}

/** Whether the work was certainly refused before it can have begun, for a reason that is not its own: another key or route may take it. */
export function isRefusedUnbegun(error: unknown): error is ProviderError {
  if (!(error instanceof ProviderError) || error.isPartial) return false;
  if (classifySubmitFailure(error) === 'unknown') return false;
  if (!error.sent) return error.kind !== 'rejected';
  return UNBEGUN_KINDS.includes(error.kind) && !isBareOverload(error);
}

/** Overload without a word of the provider's own: a proxy says so too, after it has lost a request that the provider got. */
function isBareOverload({ upstreamStatus, upstreamCode, retryAfterSeconds }: ProviderError) {
  return upstreamStatus === 503 && (upstreamCode ?? retryAfterSeconds) === undefined;
}

/** Whether the provider may have begun a work that it puts off: a proxy also says that the client is gone. */
export function mayHaveBegun(error: unknown): error is ProviderError {
  if (classifySubmitFailure(error) !== 'deferred' || !(error instanceof ProviderError))
    return false;
  return error.sent && (error.upstreamStatus === 499 || isBareOverload(error));
}

/**
 * Whether the provider refused the work after a put-off there that may have begun it: then it may have the job. A refusal of the
 * content is of the request itself, and says nothing of a job.
 */
export function isRefusedRepeat(
  error: unknown,
  task: Pick<Task, 'provider' | 'stepState'>,
): boolean {
  if (!(error instanceof ProviderError) || !error.sent || error.isContentRefusal) return false;
  const { kind } = error;
  if (!REFUSAL_KINDS.includes(kind) || classifySubmitFailure(error) !== 'failed') return false;
  return splitStepState(task).openSubmission?.provider === task.provider;
}

/** Whether nothing was sent, because all keys are used as much as the operator allows. */
export const isAtOwnLimit = (error: unknown): boolean =>
  error instanceof ProviderError && !error.sent && error.upstreamCode === KEY_LIMIT;

/** Of two such refusals the one after which the work may wait for room; the last one where both or neither are. */
export function milderOf(one: ProviderError | undefined, other: ProviderError): ProviderError {
  const isLost = classifySubmitFailure(other) === 'failed';
  return one && isLost && classifySubmitFailure(one) === 'deferred' ? one : other;
}

/** The delay before attempt number `deferrals` + 1. Undefined after {@link DEFER_LIMIT_MS}. */
export function deferDelayMs(deferrals: number, deferredForMs: number): number | undefined {
  if (deferredForMs >= DEFER_LIMIT_MS) return undefined;
  return DEFER_DELAYS_MS[Math.min(deferrals, DEFER_DELAYS_MS.length - 1)];
}

/** The message in the task: a sentence of the gateway, with the provider's code if callers may see it (decision G-96). */
export function rejectionMessage(error: unknown): string {
  const sentence = 'The provider refused the task.';
  return error instanceof ProviderError ? withCodeWord(sentence, error) : sentence;
}
