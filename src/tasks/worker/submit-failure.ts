import { ProviderError } from '../../providers/http/provider-error.js';

/** Waits after a submission that was put off; the last one repeats. */
const PUT_OFF_DELAYS_MS = [1_000, 2_000, 4_000, 5_000] as const;
/** A submission is put off this long in all. */
const PUT_OFF_LIMIT_MS = 600_000;

/** Nothing was done and may be tried later: too many requests, the client seemed gone, overloaded. */
const PUT_OFF_STATUSES = [429, 499, 503];
/** A server between us and the provider says these, whatever shape it says them in. */
const FOREIGN_STATUSES = [502, 504];
const PUBLIC_CODE = /^[a-z0-9_.]{1,64}$/;

/** What a failed submission means (architecture: Task states). */
export type SubmitFailure = 'put_off' | 'failed' | 'unknown';

/** Whether the provider certainly did nothing for now, refused for good, or may have begun; errors of ours tell nothing. */
export function judgeSubmitFailure(error: unknown): SubmitFailure {
  if (!(error instanceof ProviderError)) return 'unknown';
  const { sent, upstreamStatus: status, upstreamCode } = error;
  if (!sent) return 'put_off';
  if (status === undefined) return 'unknown';
  if (PUT_OFF_STATUSES.includes(status)) return 'put_off';
  if (status >= 400 && status < 500) return 'failed';
  const isOwnWord = upstreamCode !== undefined && !FOREIGN_STATUSES.includes(status);
  return status >= 500 && isOwnWord ? 'failed' : 'unknown';
}

/** The wait before try number `putOffs` + 1, or undefined once the task has been put off long enough. */
export function putOffDelayMs(putOffs: number, putOffForMs: number): number | undefined {
  if (putOffForMs >= PUT_OFF_LIMIT_MS) return undefined;
  return PUT_OFF_DELAYS_MS[Math.min(putOffs, PUT_OFF_DELAYS_MS.length - 1)];
}

/** The failure as the task tells it: our words, and the provider's code word where it is one (decision G-96). */
export function refusalMessage(error: unknown): string {
  const code = error instanceof ProviderError ? error.upstreamCode : undefined;
  return code !== undefined && PUBLIC_CODE.test(code)
    ? `The provider refused the task: ${code}.`
    : 'The provider refused the task.';
}
