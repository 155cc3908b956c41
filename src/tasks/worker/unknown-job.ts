import { ProviderError } from '../../providers/http/provider-error.js';

/** HTTP statuses of a provider for an unknown job. */
const UNKNOWN_JOB_STATUSES = [404, 410];

/** Whether the error of a poll means that the provider does not know the job. */
export function isUnknownJob(error: unknown): boolean {
  return (
    error instanceof ProviderError &&
    error.upstreamStatus !== undefined &&
    UNKNOWN_JOB_STATUSES.includes(error.upstreamStatus)
  );
}
