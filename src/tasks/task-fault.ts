import { ProviderError } from '../providers/http/provider-error.js';
import { faultOf, providerErrorBehind } from '../providers/http/provider-fault.js';
import type { JobFailure } from '../providers/ports/job-failure.js';
import type { Task, TaskFault } from './task.js';
import type { FailedReport } from './task-kind.js';

/** Providers answer the poll about a failed job with this status. */
const OK = 200;

/** What the operator's record keeps of a step's failure; undefined if no provider is behind it. */
export function taskFaultOf(thrown: unknown): TaskFault | undefined {
  const error = providerErrorBehind(thrown);
  return error && { ...faultOf(error), requestId: error.providerRequestId };
}

/** The sentence with the provider's code word, if callers may see it (decision G-96), as in `The task failed: timeout.` */
export function withCodeWord(sentence: string, error: ProviderError): string {
  const { publicCode } = error;
  // What the provider says of our account is not the caller's matter.
  if (publicCode === undefined || error.kind === 'account') return sentence;
  return sentence.replace(/\.$/, `: ${publicCode}.`);
}

/** The report about a job that its provider says has failed. */
export function failedReport(
  sentence: string,
  { provider }: Pick<Task, 'provider'>,
  { code, message, requestId }: JobFailure,
): FailedReport {
  const error = new ProviderError('rejected', {
    provider,
    sent: true,
    upstreamStatus: OK,
    upstreamCode: code ?? undefined,
    upstreamMessage: message ?? undefined,
    providerRequestId: requestId,
  });
  const fault = { ...faultOf(error), requestId };
  return { state: 'failed', message: withCodeWord(sentence, error), fault };
}
