import { ClientLeft } from '../../billing/calls/call-errors.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { TASK_CANCELLED } from '../../tasks/task.js';
import { taskFaultOf } from '../../tasks/task-fault.js';
import type { FailedReport } from '../../tasks/task-kind.js';
import { BrokenRun, type FinishedRun } from '../../text/text-runs.service.js';
import { incompleteReasonOf } from '../output/response-object.js';
import type { BackgroundAnswer } from './background-objects.js';
import type { RunOutput } from './run-output.js';

/** The report of a response that was cancelled before it was sent. */
export const CANCELLED: FailedReport = {
  state: 'failed',
  code: TASK_CANCELLED,
  message: 'The response was cancelled by its holder.',
};

const TOO_LARGE = {
  code: 'response_too_large',
  message: 'The answer is larger than what is stored of a response. What was made is charged.',
} as const;

/** What is left of an answer that cannot be stored, so that nobody can read it: its provider is paid all the same. */
export function withoutOutput({ bill }: BackgroundAnswer): BackgroundAnswer {
  return { status: 'failed', error: TOO_LARGE, output: [], stored: [], bill };
}

/** The answer of a run that is charged. */
export function answerOfRun(
  output: RunOutput,
  { bill }: FinishedRun,
  isCancelled: boolean,
): BackgroundAnswer {
  const incompleteReason = incompleteReasonOf(output.finishReason);
  const isCut = isCancelled || incompleteReason !== undefined;
  const { finished, stored } = output.end(isCut);
  const items = { output: finished, stored, bill };
  if (isCancelled) return { status: 'cancelled', ...items };
  return incompleteReason === undefined
    ? { status: 'completed', ...items }
    : { status: 'incomplete', incompleteReason, ...items };
}

/** The report of a run that is not charged. Rethrows an error from before the provider's answer, for which the work may wait. */
export function failureOf(error: unknown): FailedReport {
  if (error instanceof ClientLeft) return CANCELLED;
  if (error instanceof BrokenRun) {
    const { cause } = error;
    // At its deadline and at shutdown the gateway itself breaks it off.
    if (cause instanceof GatewayError) return { state: 'failed', message: cause.message };
    const fault = taskFaultOf(cause);
    const message = 'The provider broke off its answer.';
    return { state: 'failed', message, ...(fault && { fault }) };
  }
  // Before the request was sent, for example an image that cannot be fetched, or the end of this process.
  if (error instanceof GatewayError) return { state: 'failed', message: error.message };
  throw error;
}
