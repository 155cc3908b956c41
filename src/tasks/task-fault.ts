import { ProviderError } from '../providers/http/provider-error.js';
import { faultOf, providerErrorBehind } from '../providers/http/provider-fault.js';
import type { JobFailure } from '../providers/ports/job.port.js';
import type { Task, TaskFault } from './task.js';
import type { FailedReport } from './task-kind.js';

/** Providers report a failed job with this HTTP status. */
const OK = 200;

/** The failure of a step for the operator's record; undefined if no provider caused it. */
export function taskFaultOf(thrown: unknown): TaskFault | undefined {
  const error = providerErrorBehind(thrown);
  return error && { ...faultOf(error), requestId: error.providerRequestId };
}

/** Appends the provider's error code to the sentence if callers may see it (decision G-96): `The task failed: timeout.` */
export function withCodeWord(sentence: string, error: ProviderError): string {
  const { publicCode } = error;
  // Errors about the gateway's account at the provider are not shown to callers.
  if (publicCode === undefined || error.kind === 'account') return sentence;
  return sentence.replace(/\.$/, `: ${publicCode}.`);
}

/** The report for a job that failed according to its provider. */
export function failedReport(
  sentence: string,
  { provider }: Pick<Task, 'provider'>,
  { code, message, requestId, isContentRefusal }: JobFailure,
): FailedReport {
  const error = new ProviderError('rejected', {
    provider,
    sent: true,
    upstreamStatus: OK,
    upstreamCode: code ?? undefined,
    upstreamMessage: message ?? undefined,
    providerRequestId: requestId,
    isContentRefusal,
  });
  const fault = { ...faultOf(error), requestId };
  return { state: 'failed', message: withCodeWord(sentence, error), fault };
}

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
