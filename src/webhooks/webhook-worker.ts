import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import type { SpanEnd } from '../platform/observability/traced-span.js';
import { Tracing } from '../platform/observability/tracing.js';
import { Scheduler } from '../platform/scheduler/scheduler.js';
import { DeliveryConcurrency } from './delivery-concurrency.js';
import type { DeliveryAttempt } from './delivery.js';
import { type ClaimedDelivery, DeliveryStatements } from './delivery-statements.js';
import { nextStep } from './retry-schedule.js';
import { WebhookMetrics } from './webhook-metrics.js';
import { WebhookSender } from './webhook-sender.js';

/** A lease exceeds the timeout of an attempt by this, so that there is time to record the attempt. */
const LEASE_SLACK_MS = 20_000;
/** Freed capacity is filled after this delay, together. */
const REFILL_MS = 10;
const JOB = 'webhooks';

/**
 * Claims, sends and records due deliveries (API: Webhook events, docs/guides/webhooks.md). A tick only starts attempts, so that a
 * hanging receiver does not delay others. The attempt of a process that died is repeated when its lease ends, so a receiver
 * may get a delivery twice.
 */
@Injectable()
export class WebhookWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(WebhookWorker.name);
  private readonly statements: DeliveryStatements;
  private readonly concurrency = new DeliveryConcurrency();
  private readonly running = new Set<Promise<void>>();
  private claiming: Promise<number> | undefined;
  private isStopped = false;

  constructor(
    dataSource: DataSource,
    private readonly sender: WebhookSender,
    private readonly metrics: WebhookMetrics,
    private readonly scheduler: Scheduler,
    private readonly tracing: Tracing,
    @Inject(GATEWAY_CONFIG)
    private readonly config: Pick<
      GatewayConfig,
      'taskTickMs' | 'webhookTimeoutMs' | 'webhookRetryDelaysMs'
    >,
  ) {
    this.statements = new DeliveryStatements(dataSource);
    metrics.watch(dataSource, () => this.concurrency.inFlight);
  }

  onApplicationBootstrap(): void {
    const { taskTickMs: intervalMs } = this.config;
    this.scheduler.start({ name: JOB, intervalMs, tick: () => this.tick() });
  }

  /** Stops claiming and waits for the running attempts, each of which has a deadline. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    await this.whenIdle();
  }

  /**
   * Starts an attempt for every due delivery within the limits; returns their number. Throws the database's errors.
   */
  tick(): Promise<number> {
    this.claiming ??= this.claimAll().finally(() => {
      this.claiming = undefined;
    });
    return this.claiming;
  }

  /** Resolves when no attempt is running. */
  async whenIdle(): Promise<void> {
    await this.claiming?.catch(() => undefined);
    while (this.running.size > 0) await Promise.all(this.running);
  }

  private async claimAll(): Promise<number> {
    const leaseMs = this.config.webhookTimeoutMs + LEASE_SLACK_MS;
    let started = 0;
    for (;;) {
      const limits = this.concurrency.available();
      if (this.isStopped || limits.total <= 0) return started;
      const claimed = await this.statements.claim(leaseMs, limits);
      for (const delivery of claimed) this.start(delivery);
      started += claimed.length;
      if (claimed.length === 0) return started;
    }
  }

  private start(delivery: ClaimedDelivery): void {
    this.concurrency.acquire(delivery);
    const run = this.deliver(delivery).finally(() => this.running.delete(run));
    this.running.add(run);
  }

  private async deliver(delivery: ClaimedDelivery): Promise<void> {
    const span = this.tracing.delivery(delivery);
    const attempt = await this.sender.attempt(delivery, span?.traceParent);
    span?.end(endOf(attempt));
    const next = nextStep(attempt.statusCode, delivery.retry, this.config.webhookRetryDelaysMs);
    this.metrics.count(attempt, next);
    try {
      await this.statements.record({ delivery, attempt, next });
    } catch (error) {
      this.logger.error(`cannot record the attempt of delivery ${delivery.id}: ${String(error)}`);
    }
    const wasFull = this.concurrency.release(delivery, attempt);
    if (wasFull) this.scheduler.runSoon(JOB, REFILL_MS);
  }
}

/** Any answer but a success is an error of the span. */
function endOf({ statusCode, error }: DeliveryAttempt): SpanEnd {
  const isTaken = statusCode !== null && statusCode >= 200 && statusCode < 300;
  const why = error ?? String(statusCode);
  return { facts: { status: statusCode ?? undefined }, ...(!isTaken && { error: why }) };
}
