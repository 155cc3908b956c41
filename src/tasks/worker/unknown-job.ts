import { ProviderError } from '../../providers/http/provider-error.js';

/** Statuses with which a provider says that it does not know a job. */
const UNKNOWN_JOB_STATUSES = [404, 410];

/** Whether the error of a poll says that the provider does not know the job. */
export function isUnknownJob(error: unknown): boolean {
  return (
    error instanceof ProviderError &&
    error.upstreamStatus !== undefined &&
    UNKNOWN_JOB_STATUSES.includes(error.upstreamStatus)
  );
}
