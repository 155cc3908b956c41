import { storableJson } from '../storable-json.js';
import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { timeOrderedUuid } from '../../common/ids/time-ordered-uuid.js';
import type { JsonObject } from '../../common/json-object.js';
import { Clock } from '../../common/time/clock.js';
import { PreparedStatement } from '../../database/prepared-statement.js';
import { ProviderRegistry } from '../../providers/routing/provider-registry.js';
import { WebhookSecrets } from '../../webhooks/webhook-secrets.js';
import type { KeyClaim } from './idempotency-claims.js';
import { persistently } from '../persistently.js';
import type { Task, TaskWebhook } from '../task.js';
import { TaskInputs } from './task-inputs.js';
import { TaskKinds } from '../task-kinds.js';
import { laneOf } from '../task-lane.js';
import type { PreparedTask, TaskRequest } from './task-request.js';

/** A submission waits this long for a database that is away. */
const PATIENCE_MS = 4_000;

/** Another request has taken the key's claim over. */
export class ClaimLost extends Error {}

interface InsertRow {
  readonly outcome:
    'created' | 'claim_lost' | 'insufficient' | 'over_limit' | 'conflict' | 'missing';
  readonly created: Date | null;
}

const REFUSED = new Set<InsertRow['outcome']>(['insufficient', 'over_limit', 'claim_lost']);

/** Writes a new task, its hold and its key in one statement. */
@Injectable()
export class TaskInsertion {
  readonly #submit: PreparedStatement<InsertRow>;
  readonly #submitCapped: PreparedStatement<InsertRow>;

  constructor(
    dataSource: DataSource,
    private readonly clock: Clock,
    private readonly inputs: TaskInputs,
    private readonly secrets: WebhookSecrets,
    private readonly registry: ProviderRegistry,
    private readonly kinds: TaskKinds,
  ) {
    const places = Array.from({ length: 20 }, (_, index) => `$${index + 1}`).join(', ');
    this.#submit = new PreparedStatement(
      dataSource,
      'task_submit',
      `SELECT * FROM task_submit(${places})`,
    );
    this.#submitCapped = new PreparedStatement(
      dataSource,
      'task_submit_capped',
      `SELECT * FROM task_submit_capped(${places})`,
    );
  }

  /** The task as it was written, or why none was. Throws the database's error where it could not say. */
  async insert(
    request: TaskRequest,
    prepared: PreparedTask,
    claim: KeyClaim | undefined,
  ): Promise<Task | 'insufficient' | 'over_limit' | 'claim_lost'> {
    const task = this.taskOf(request, prepared);
    const key = claim ? [claim.endpoint, claim.key, claim.token] : [null, null, null];
    const values = [...this.columnsOf(task, prepared.input), ...key];
    const submit = request.call.caller.spendLimit ? this.#submitCapped : this.#submit;
    const [row] = await persistently(() => submit.run(values), PATIENCE_MS);
    assert(row, 'the function answers a row');
    const { outcome, created } = row;
    if (outcome === 'created' && created) return { ...task, createdAt: created };
    assert(REFUSED.has(outcome), `no task: ${outcome}`);
    return outcome as 'insufficient' | 'over_limit' | 'claim_lost';
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
      storableJson(task.details),
      task.provider,
      task.providerBaseUrl,
      task.onSandbox,
      task.upstreamModel,
      laneOf('waiting', task.provider),
      task.reservedMicroUsd.toString(),
      task.webhook?.url ?? null,
      task.webhook?.sealedSecret ?? null,
    ];
  }

  private taskOf({ call, kind, webhook }: TaskRequest, prepared: PreparedTask): Task {
    const { route, details, priceMicroUsd } = prepared;
    const nowMs = this.clock.nowMs();
    const id = timeOrderedUuid(nowMs);
    assert(priceMicroUsd > 0n, 'nothing is sold for nothing');
    return {
      id,
      accountId: call.caller.accountId,
      apiKeyId: call.caller.apiKeyId,
      kind,
      model: call.row.id,
      clientRequestId: call.clientRequestId ?? null,
      status: 'queued',
      progress: null,
      input: {},
      details: JSON.parse(storableJson(details)) as JsonObject,
      memory: {},
      provider: route.provider,
      providerBaseUrl: this.registry.baseUrlOf(route.provider) ?? '',
      onSandbox: this.registry.isSandbox(route.provider),
      upstreamModel: route.upstreamModel,
      providerJobId: null,
      result: null,
      error: null,
      reservedMicroUsd: priceMicroUsd,
      chargedMicroUsd: null,
      content: null,
      webhook: this.webhookOf(webhook, id),
      evidence: null,
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
