import { ApiProperty, getSchemaPath, IntersectionType, PickType } from '@nestjs/swagger';
import { toPublicId } from '../../common/ids/public-id.js';
import { formatMicroUsd } from '../../common/money/micro-usd.js';
import { linesOf, sumOf } from '../../common/money/price-lines.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { toEpochSeconds } from '../../common/time/clock.js';
import type { MadeTextNotes, ProviderEvidence, Task, TaskStatus } from '../../tasks/task.js';
import { splitStepState } from '../../tasks/worker/step-notes.js';
import { anyModality, TASK_STATUSES, TaskView } from '../../tasks/task.view.js';
import { ExecutionView, viewBasis, viewPriceBookOf } from '../../billing/calls/execution.view.js';
import { ATTEMPTS, type ProviderAttemptView, viewTaskAttempts } from './attempt.view.js';
import {
  COST_MICROUSD,
  PROVIDER_FIGURES,
  ProviderErrorView,
  UNCHARGED,
  type UnchargedView,
  viewUncharged,
} from './admin-execution.view.js';

/** What the provider last said about a task that had ended without success. */
export class ProviderEvidenceView {
  @ApiProperty({
    enum: [
      ...['pending', 'succeeded', 'failed', 'unreadable'],
      ...['found', 'absent', 'found_by_time', 'absent_by_time'],
    ],
    description:
      'State of the work at the provider, as its last answer said; the words with `found` and `absent`: whether it has work of our reference, or of its time and fields',
  })
  status!: string;

  @ApiProperty({
    enum: ['job', 'reference', 'time'],
    description:
      'What the provider was asked for: its own id of the work, our reference, or its time and fields',
  })
  asked!: string;

  @ApiProperty({ description: 'Epoch seconds' })
  seen_at!: number;
}

/** The provider that has the work of a task. */
export class TaskRouteView {
  @ApiProperty({ example: 'elevenlabs', description: 'Id of the provider' })
  provider!: string;

  @ApiProperty({ example: 'dubbing_v1', description: 'Name of the model at the provider' })
  upstream_model!: string;
}

/**
 * What the operator sees of a task in addition to the holder's view: account, key, provider, and the same explanation of its
 * charge as of an execution.
 */
export class OperatorTaskFields extends PickType(ExecutionView, [
  'unit',
  'quantity',
  'unit_price_microusd',
  'lines',
  'estimated',
  'capped',
  'price_book',
  'factor_permille',
  'output_cap',
  'output_cap_reason',
  'run',
]) {
  @ApiProperty({ description: 'Id of the account that submitted it' })
  account_id!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    description: 'Id of the key that submitted it; null where none is known',
  })
  api_key_id!: string | null;

  @ApiProperty({
    enum: TASK_STATUSES,
    description:
      'As `status` filters; a video whose outcome is unknown has the `status` in_progress',
  })
  task_status!: TaskStatus;

  @ApiProperty({
    nullable: true,
    type: String,
    description: 'As sent in `X-Client-Request-Id`; null where it was not',
  })
  client_request_id!: string | null;

  @ApiProperty({ description: 'The provider and its model that work on it' })
  route!: TaskRouteView;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '12500',
    description: 'Micro-USD that an operator gave back; null if nothing was',
  })
  refunded_microusd!: string | null;

  @ApiProperty({ nullable: true, type: String, description: "The provider's own id of the work" })
  provider_job_id!: string | null;

  @ApiProperty({
    nullable: true,
    type: ProviderEvidenceView,
    description:
      'Decides a task whose outcome is unknown; of one that failed or expired only shown, until it is resolved',
  })
  provider_evidence!: ProviderEvidenceView | null;

  @ApiProperty(ATTEMPTS)
  attempts!: ProviderAttemptView[];

  @ApiProperty(PROVIDER_FIGURES)
  provider_figures!: object | null;

  @ApiProperty(COST_MICROUSD)
  cost_microusd!: string | null;

  @ApiProperty(UNCHARGED)
  uncharged!: UnchargedView | null;

  @ApiProperty({
    nullable: true,
    type: ProviderErrorView,
    description: 'What the provider said about its failure; null if it said nothing',
  })
  provider_error!: ProviderErrorView | null;

  @ApiProperty({ nullable: true, type: String, description: "The provider's id of that answer" })
  provider_request_id!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    description:
      'The last word of the provider for the state of the work, if it is not a known one',
  })
  unknown_state!: string | null;
}

/** A task as the operator sees it. */
export class AdminTaskView extends IntersectionType(TaskView, OperatorTaskFields) {}

/** OpenAPI: {@link AdminTaskView}. Its own fields stand in the document once, for tasks of all kinds. */
export const ADMIN_TASK = {
  allOf: [{ $ref: getSchemaPath(TaskView) }, { $ref: getSchemaPath(OperatorTaskFields) }],
};

/** OpenAPI: a video as the operator sees it, `AdminVideoTaskView` in the document. */
export const ADMIN_VIDEO_TASK = {
  allOf: [{ $ref: getSchemaPath('VideoTaskView') }, { $ref: getSchemaPath(OperatorTaskFields) }],
};

/** OpenAPI: a task of any kind, as `ANY_TASK`. */
export const ANY_ADMIN_TASK = anyModality(
  getSchemaPath(AdminTaskView),
  getSchemaPath('AdminVideoTaskView'),
);

/** A page of tasks. */
export class AdminTaskPage extends pageOfViews(AdminTaskView) {
  @ApiProperty({ type: 'array', items: ANY_ADMIN_TASK })
  declare data: AdminTaskView[];
}

/** The fields that only operators see. */
export function viewAdminTask(task: Task, holderView: object): object {
  const { evidence, apiKeyId, basis, refundedMicroUsd, costMicroUsd: cost } = task;
  return {
    ...holderView,
    model: task.model,
    account_id: toPublicId('acct', task.accountId),
    api_key_id: apiKeyId === null ? null : toPublicId('key', apiKeyId),
    task_status: task.status,
    client_request_id: task.clientRequestId,
    run: task.run,
    route: { provider: task.provider, upstream_model: task.upstreamModel },
    ...viewBasis(basis),
    ...viewPriceBookOf(task),
    capped: isCapped(task),
    ...viewNotes(task),
    refunded_microusd: refundedMicroUsd === null ? null : formatMicroUsd(refundedMicroUsd),
    provider_job_id: workIdOf(task),
    provider_evidence: evidence && viewEvidence(evidence),
    attempts: viewTaskAttempts(task),
    provider_figures: splitStepState(task).figures ?? null,
    cost_microusd: cost === null ? null : formatMicroUsd(cost),
    ...viewFault(task),
  };
}

/** The charge of a task is bound by its hold as that of a call is. Its record has no column of its own for it. */
function isCapped({ basis, chargedMicroUsd, priceBook }: Task): boolean {
  if (basis === null || chargedMicroUsd === null) return false;
  const factor = priceBook === null ? undefined : BigInt(priceBook.factorPermille);
  return sumOf(linesOf(basis), factor) > chargedMicroUsd;
}

function viewNotes({ stepState }: Task) {
  const notes: MadeTextNotes = stepState;
  const { outputCap = null, outputCapReason = null, uncharged = null } = notes;
  return {
    output_cap: outputCap,
    output_cap_reason: outputCap === null ? null : outputCapReason,
    uncharged: viewUncharged(uncharged),
  };
}

function viewEvidence({ status, seenAt }: ProviderEvidence): ProviderEvidenceView {
  const isOfLookUp = /^(found|absent)/.test(status);
  const asked = status.endsWith('_by_time') ? 'time' : isOfLookUp ? 'reference' : 'job';
  return { status, asked, seen_at: toEpochSeconds(seenAt) };
}

function viewFault({ fault, unknownState }: Task) {
  return {
    provider_error: fault && { status: fault.status, code: fault.code, message: fault.message },
    provider_request_id: fault?.requestId ?? null,
    unknown_state: unknownState,
  };
}

/** The provider's id of the job, or of the request of a call that became a task. */
function workIdOf({ providerJobId, stepState: { providerRequestId } }: Task): string | null {
  return providerJobId ?? (typeof providerRequestId === 'string' ? providerRequestId : null);
}
