import { postgresJson, type JsonObject } from '../../common/json-object.js';
import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { mayHaveLimit } from '../../auth/caller.js';
import { type CostedRoute, routeCostOf } from '../../catalog/route-cost.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { Clock } from '../../common/time/clock.js';
import { ProviderRegistry } from '../../providers/routing/provider-registry.js';
import { WebhookSecrets } from '../../webhooks/webhook-secrets.js';
import type { RunConflict, Unfunded } from '../../admission/hold-refusal.js';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import type { KeyClaim } from './idempotency-claims.js';
import type { Task, TaskRoute, TaskWebhook } from '../task.js';
import type { SubmitOutcome } from './submit-batches.js';
import { SubmitStatement } from './submit-statement.js';
import { TaskInputs } from './task-inputs.js';
import type { TaskKind } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import { laneOf } from '../task-lane.js';
import type { PreparedTask, TaskRequest } from './task-request.js';

/** Another request has taken over the claim of the idempotency key. */
export class ClaimLost extends Error {}

const OPEN_RETRY_AFTER_SECONDS = 5;

const UNFUNDED = new Set<SubmitOutcome>(['insufficient', 'over_limit', 'over_run']);

function refusalOf(outcome: SubmitOutcome, room: string | null): Unfunded | RunConflict {
  if (outcome === 'run_conflict') {
    return { outcome, limitMicroUsd: room === null ? null : BigInt(room) };
  }
  assert(UNFUNDED.has(outcome), `unexpected outcome of a submission: ${outcome}`);
  return { outcome: outcome as Unfunded['outcome'], availableMicroUsd: BigInt(room ?? 0) };
}

/** Writes a new task, its hold and its idempotency key in one statement. */
@Injectable()
export class TaskInsertion {
  constructor(
    private readonly statement: SubmitStatement,
    private readonly clock: Clock,
    private readonly inputs: TaskInputs,
    private readonly secrets: WebhookSecrets,
    private readonly registry: ProviderRegistry,
    private readonly kinds: TaskKinds,
  ) {}

  /**
   * The new task, or the reason why there is none. Throws 429 beyond the open tasks of its kind, the database's error, or 503 when the task may exist. Then it will be
   * cancelled, unless the request has an idempotency key, with which the caller can retry.
   */
  async insert(
    request: TaskRequest,
    prepared: PreparedTask,
    claim: KeyClaim | undefined,
  ): Promise<Task | Unfunded | RunConflict | 'claim_lost'> {
    const task = this.taskOf(request, prepared);
    const { endpoint } = request.call;
    const values = this.valuesOf(task, request, prepared, claim);
    const { span } = request.call.request ?? {};
    const terms = { hasKey: claim !== undefined, endpoint, span };
    const { outcome, created, room, ...held } = await this.statement.run(task, values, terms);
    if (outcome === 'created' && created) {
      const { reserved, bound_by: capReason } = held;
      const reservedMicroUsd = reserved === null ? task.reservedMicroUsd : BigInt(reserved);
      if (capReason !== null) prepared.onFitted?.(reservedMicroUsd, capReason);
      return { ...task, reservedMicroUsd, createdAt: created };
    }
    if (outcome === 'too_many_open') throw tooManyOpen(this.kinds.of(task.kind));
    return outcome === 'claim_lost' ? outcome : refusalOf(outcome, room);
  }

  private valuesOf(
    task: Task,
    { call: { endpoint, caller, run } }: TaskRequest,
    { input, quote: { fit } }: PreparedTask,
    claim: KeyClaim | undefined,
  ): unknown[] {
    const key = claim ? [claim.key, claim.token] : [null, null];
    const book = task.priceBook && JSON.stringify(task.priceBook);
    const columns = this.columnsOf(task, input);
    const routeCost = task.routeCostMicroUsd?.toString() ?? null;
    return [
      ...[...columns, endpoint, ...key, mayHaveLimit(caller), ...columnsOfRun(run), book],
      ...[routeCost, fit?.floorMicroUsd.toString() ?? null, fit?.promptMicroUsd.toString() ?? null],
      this.kinds.of(task.kind).maxOpenPerAccount ?? null,
    ];
  }

  private columnsOf(task: Task, input: JsonObject): unknown[] {
    return [
      task.accountId,
      task.id,
      task.apiKeyId,
      task.kind,
      this.kinds.of(task.kind).modality,
      task.model,
      task.clientRequestId,
      this.inputs.seal(input, task.id),
      postgresJson(task.details),
      task.provider,
      task.providerBaseUrl,
      task.onSandbox,
      task.upstreamModel,
      laneOf('waiting', task),
      task.reservedMicroUsd.toString(),
      task.basis?.unit ?? null,
      task.basis && JSON.stringify(task.basis.quantity),
      task.basis && JSON.stringify(task.basis.unitPrice),
      task.webhook?.url ?? null,
      task.webhook?.sealedSecret ?? null,
    ];
  }

  private taskOf({ call, kind, webhook }: TaskRequest, prepared: PreparedTask): Task {
    const { route, others = [], details, quote } = prepared;
    const costOn = (of: CostedRoute) =>
      (quote.basis && routeCostOf(of, { ...quote.basis, choice: quote.choice })) ?? null;
    const nowMs = this.clock.nowMs();
    const id = uuidV7(nowMs);
    assert(quote.amountMicroUsd > 0n, 'hold amount must be positive');
    return {
      id,
      accountId: call.caller.accountId,
      apiKeyId: call.caller.apiKeyId,
      kind,
      model: call.row.id,
      clientRequestId: call.clientRequestId ?? null,
      run: call.run?.id ?? null,
      status: 'queued',
      progress: null,
      input: {},
      details: JSON.parse(
        postgresJson({ ...details, ...aliasOf(call), ...routesKept([route, ...others], costOn) }),
      ) as JsonObject,
      stepState: {},
      provider: route.provider,
      providerBaseUrl: prepared.upstream ?? this.registry.baseUrlOf(route.provider) ?? '',
      onSandbox: this.registry.isSandbox(route.provider),
      upstreamModel: route.upstreamModel,
      providerJobId: null,
      result: null,
      error: null,
      reservedMicroUsd: quote.amountMicroUsd,
      chargedMicroUsd: null,
      refundedMicroUsd: null,
      routeCostMicroUsd: costOn(route),
      costMicroUsd: null,
      basis: quote.basis,
      priceBook: call.row.priceBook ?? null,
      content: null,
      webhook: this.webhookOf(webhook, id),
      evidence: null,
      fault: null,
      unknownState: null,
      isCancelAsked: false,
      createdAt: new Date(nowMs),
      completedAt: null,
    };
  }

  private webhookOf(webhook: TaskRequest['webhook'], taskId: string): TaskWebhook | null {
    if (!webhook) return null;
    const { url, secret } = webhook;
    return {
      url,
      sealedSecret: secret === undefined ? null : this.secrets.seal(secret, taskId),
    };
  }
}

/** The run and its limit as the statement takes them. */
function columnsOfRun(run: AdmittedCall['run']): (string | null)[] {
  return [run?.id ?? null, run?.limitMicroUsd?.toString() ?? null];
}

function tooManyOpen({ maxOpenPerAccount, plural }: TaskKind): GatewayError {
  const message =
    `You may have at most ${maxOpenPerAccount} ${plural ?? 'tasks of this kind'} that have not ended. ` +
    'Try again when one of them has.';
  return new GatewayError('rate_limit_exceeded', message, {
    retryAfterSeconds: OPEN_RETRY_AFTER_SECONDS,
  });
}

/** Where the task may be submitted, with what it then costs; nothing where there is one route, of which the task says all. */
function routesKept(
  routes: readonly CostedRoute[],
  costOn: (route: CostedRoute) => MicroUsd | null,
): { routes?: readonly TaskRoute[] } {
  if (routes.length < 2) return {};
  return {
    routes: routes.map((route) => ({
      provider: route.provider,
      upstreamModel: route.upstreamModel,
      cost: costOn(route)?.toString() ?? null,
    })),
  };
}

/** The model name that the caller used, if it is an alias. */
function aliasOf({ row, modelName }: AdmittedCall): { modelAlias?: string } {
  return modelName === row.id ? {} : { modelAlias: modelName };
}
