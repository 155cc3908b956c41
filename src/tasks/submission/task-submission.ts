import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { holdRefusal } from '../../admission/hold-refusal.js';
import { inTurn, keyConflict } from '../../admission/kept/turns.js';
import type { UncheckedStep } from '../../admission/quotes/quotable-calls.js';
import { isJsonObject } from '../../common/json-object.js';
import { apiFamilyOf } from '../../catalog/operations.js';
import { Clock } from '../../common/time/clock.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { WebhookUrlPolicy } from '../../webhooks/webhook-url-policy.js';
import { IdempotencyClaims, type KeyClaim, type KeyUse } from './idempotency-claims.js';
import type { Task } from '../task.js';
import { ClaimLost, TaskInsertion } from './task-insertion.js';
import { TaskRepository } from '../reads/task.repository.js';
import { UnknownSubmission } from './submit-statement.js';
import type { PreparedTask, TaskRequest } from './task-request.js';

interface UnderWay {
  readonly fingerprint: string;
  /** The task; undefined if the request was refused. */
  readonly task: Promise<Task | undefined>;
}

/** Creates tasks: idempotency, hold, task and key in one transaction (API: Task states; decisions G-54, G-86). */
@Injectable()
export class TaskSubmission {
  /**
   * Running requests of this process by idempotency key. Requests with the same key wait for them in memory, without
   * queries.
   */
  private readonly underWay = new Map<string, UnderWay>();

  constructor(
    private readonly claims: IdempotencyClaims,
    private readonly insertion: TaskInsertion,
    private readonly repository: TaskRepository,
    private readonly webhookUrls: WebhookUrlPolicy,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {}

  /**
   * The task of the request: a new one, or that of an earlier request with the same key and body. For one key, `prepare` runs
   * at most once at a time, and never for a replay. An error of `prepare` is rethrown and frees the key. Throws 400 for a
   * refused webhook, 402 when the balance is too low, 409 `idempotency_conflict`, and 503 when the database cannot be reached
   * or the other request with the key does not end in time.
   */
  async submit(request: TaskRequest, prepare: () => Promise<PreparedTask>): Promise<Task> {
    const { webhook, idempotencyKey: key, call } = request;
    if (webhook) this.webhookUrls.parse(webhook.url, familyOf(request));
    if (key === undefined) return this.create(request, prepare, undefined);
    const use: KeyUse = {
      accountId: call.caller.accountId,
      endpoint: call.endpoint,
      key,
      fingerprints: this.claims.fingerprintsOf(request.body),
      sentFingerprint: isJsonObject(call.body)
        ? (this.claims.fingerprintsOf(call.body)[0] ?? null)
        : null,
    };
    return this.once(use, (claim) => this.create(request, prepare, claim));
  }

  /** Throws 400 for a webhook whose text is refused. */
  checkWebhook(url: string | undefined, endpoint: string): void {
    if (url !== undefined) this.webhookUrls.parse(url, apiFamilyOf(endpoint));
  }

  /** What a quote of a task leaves out, with or without a webhook and media. */
  uncheckedSteps(webhook: string | undefined, hasMedia: boolean): UncheckedStep[] {
    return [
      'replay',
      ...(webhook === undefined ? [] : (['webhook_host'] as const)),
      ...(hasMedia ? (['media'] as const) : []),
    ];
  }

  /**
   * Runs one request per key at a time in this process. Waiting requests return its task; if it created none, one of them runs
   * next.
   */
  private async once(use: KeyUse, create: (claim: KeyClaim) => Promise<Task>): Promise<Task> {
    const name = JSON.stringify([use.accountId, use.endpoint, use.key]);
    const fingerprint = use.fingerprints[0]?.toString('hex') ?? '';
    for (;;) {
      const twin = this.underWay.get(name);
      if (!twin) break;
      if (twin.fingerprint !== fingerprint) throw keyConflict();
      const task = await twin.task;
      if (task) return task;
    }
    const attempt = this.attempt(use, create);
    const pending = { fingerprint, task: attempt.catch(() => undefined) };
    this.underWay.set(name, pending);
    try {
      return await attempt;
    } finally {
      this.underWay.delete(name);
    }
  }

  private async attempt(use: KeyUse, create: (claim: KeyClaim) => Promise<Task>): Promise<Task> {
    return inTurn(async () => {
      const result = await this.claims.claim(use);
      if (result.outcome === 'conflict') throw keyConflict();
      if (result.outcome === 'bound') return this.bound(result.taskId, use.accountId);
      return result.outcome === 'claimed' ? this.claimed(result.claim, create) : undefined;
    });
  }

  /** Creates the task. Undefined if another process took over the claim. */
  private async claimed(
    claim: KeyClaim,
    create: (claim: KeyClaim) => Promise<Task>,
  ): Promise<Task | undefined> {
    try {
      return await this.claims.during(claim, () => create(claim));
    } catch (error) {
      if (error instanceof ClaimLost) return undefined;
      throw error;
    }
  }

  private async bound(taskId: string, accountId: string): Promise<Task> {
    const task = await this.repository.find(taskId, accountId);
    assert(task, 'the task of an idempotency key was not found');
    return task;
  }

  private async create(
    request: TaskRequest,
    prepare: () => Promise<PreparedTask>,
    claim: KeyClaim | undefined,
  ): Promise<Task> {
    const { webhook, call } = request;
    if (webhook) await this.webhookUrls.resolve(webhook.url, familyOf(request));
    const prepared = await prepare();
    const outcome = await this.insertion
      .insert(request, prepared, claim)
      .catch(async (error: unknown) => {
        // After UnknownSubmission the task may exist and need what was prepared for it.
        if (!(error instanceof UnknownSubmission)) await prepared.discard?.();
        throw error;
      });
    if (outcome !== 'claim_lost' && 'id' in outcome) {
      this.metrics.heldMicroUsd.inc({ model: outcome.model }, Number(outcome.reservedMicroUsd));
      return outcome;
    }
    await prepared.discard?.();
    if (outcome === 'claim_lost') throw new ClaimLost();
    throw holdRefusal(call, prepared.quote, outcome, this.clock.nowMs());
  }
}

const familyOf = ({ family, call }: TaskRequest) => family ?? apiFamilyOf(call.endpoint);
