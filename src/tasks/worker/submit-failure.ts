import { ProviderError, type ProviderErrorKind } from '../../providers/http/provider-error.js';
import { withCodeWord } from '../task-fault.js';

/** Waits after a submission that was put off. The last one repeats. */
const PUT_OFF_DELAYS_MS = [1_000, 2_000, 4_000, 5_000] as const;
/** A submission is put off for at most this long in all. */
const PUT_OFF_LIMIT_MS = 600_000;

/**
 * The provider did nothing, and a later attempt may succeed: too many requests, the client seemed to have left,
 * overloaded.
 */
const PUT_OFF_STATUSES = [429, 499, 503];
const PUT_OFF_KINDS: readonly ProviderErrorKind[] = ['rate_limited', 'unavailable'];
/**
 * Servers between the gateway and the provider answer these when they have no good answer of the provider, which may have
 * begun all the same. Whatever their body says is not the provider's word.
 */
const FOREIGN_STATUSES = [502, 504, 520, 522, 524];

/** What a failed submission means (ADR 0009). */
export type SubmitFailure = 'put_off' | 'failed' | 'unknown';

/**
 * Whether the provider certainly did nothing for now, refused for good, or may have begun. Errors of the gateway itself
 * tell nothing.
 */
export function judgeSubmitFailure(error: unknown): SubmitFailure {
  if (!(error instanceof ProviderError)) return 'unknown';
  const { kind, sent, upstreamStatus: status, upstreamCode } = error;
  if (!sent) return 'put_off';
  if (status === undefined) return 'unknown';
  if (FOREIGN_STATUSES.includes(status)) return 'unknown';
  if (PUT_OFF_STATUSES.includes(status) || PUT_OFF_KINDS.includes(kind)) return 'put_off';
  if (status >= 400 && status < 500) return 'failed';
  return status >= 500 && upstreamCode !== undefined ? 'failed' : 'unknown';
}

/** The wait before attempt number `putOffs` + 1. Undefined when the task has been put off for long enough. */
export function deferDelayMs(putOffs: number, putOffForMs: number): number | undefined {
  if (putOffForMs >= PUT_OFF_LIMIT_MS) return undefined;
  return PUT_OFF_DELAYS_MS[Math.min(putOffs, PUT_OFF_DELAYS_MS.length - 1)];
}

/** The failure in the task: a message of the gateway, and the provider's code if it may be shown (decision G-96). */
export function refusalMessage(error: unknown): string {
  const sentence = 'The provider refused the task.';
  return error instanceof ProviderError ? withCodeWord(sentence, error) : sentence;
}
