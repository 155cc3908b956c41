import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { Scheduler } from '../platform/scheduler/scheduler.js';
import { AttemptBatcher } from './attempt-batcher.js';
import { DeliveryConcurrency } from './delivery-concurrency.js';
import { type ClaimedDelivery, DeliveryStatements } from './delivery-statements.js';
import { nextStep } from './retry-schedule.js';
import { WebhookMetrics } from './webhook-metrics.js';
import { WebhookSender } from './webhook-sender.js';

/** A lease is longer than an attempt by this, so that there is time to record it. */
const LEASE_SLACK_MS = 20_000;
/** After this pause all places that became free are filled together. */
const REFILL_MS = 10;
const JOB = 'webhooks';

/**
 * Delivers what is due: claims, sends, records (API: Webhook events, docs/guides/webhooks.md). A tick only starts attempts, so
 * that a receiver that hangs delays no other. Free places are filled soon. The attempt of a process that died is
 * repeated when its lease ends, so a receiver may get a delivery twice.
 */
@Injectable()
export class WebhookWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #logger = new Logger(WebhookWorker.name);
  readonly #statements: DeliveryStatements;
  readonly #log: AttemptBatcher;
  readonly #slots = new DeliveryConcurrency();
  readonly #underWay = new Set<Promise<void>>();
  #claiming: Promise<number> | undefined;
  #isStopped = false;

  constructor(
    dataSource: DataSource,
    private readonly sender: WebhookSender,
    private readonly metrics: WebhookMetrics,
    private readonly scheduler: Scheduler,
    @Inject(GATEWAY_CONFIG)
    private readonly config: Pick<
      GatewayConfig,
      'taskTickMs' | 'webhookTimeoutMs' | 'webhookRetryDelaysMs'
    >,
  ) {
    this.#statements = new DeliveryStatements(dataSource);
    this.#log = new AttemptBatcher((records) => this.#statements.record(records));
    metrics.watch(dataSource, () => this.#slots.inFlight);
  }

  onApplicationBootstrap(): void {
    const { taskTickMs: intervalMs } = this.config;
    this.scheduler.start({ name: JOB, intervalMs, tick: () => this.tick() });
  }

  /** Claims nothing more and waits for the attempts under way, each of which has a deadline. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#isStopped = true;
    await this.settled();
  }

  /**
   * Starts an attempt for every due delivery that has a free place; returns their number. Throws the errors of the
   * database.
   */
  tick(): Promise<number> {
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined;
    });
    return this.#claiming;
  }

  /** Resolves when no attempt is under way any more. */
  async settled(): Promise<void> {
    await this.#claiming?.catch(() => undefined);
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async #claimAll(): Promise<number> {
    const leaseMs = this.config.webhookTimeoutMs + LEASE_SLACK_MS;
    let started = 0;
    for (;;) {
      const rooms = this.#slots.available();
      if (this.#isStopped || rooms.total <= 0) return started;
      const claimed = await this.#statements.claim(leaseMs, rooms);
      for (const delivery of claimed) this.#start(delivery);
      started += claimed.length;
      if (claimed.length === 0) return started;
    }
  }

  #start(delivery: ClaimedDelivery): void {
    this.#slots.acquire(delivery);
    const run = this.#deliver(delivery).finally(() => this.#underWay.delete(run));
    this.#underWay.add(run);
  }

  async #deliver(delivery: ClaimedDelivery): Promise<void> {
    const attempt = await this.sender.attempt(delivery);
    const next = nextStep(attempt.statusCode, delivery.retry, this.config.webhookRetryDelaysMs);
    this.metrics.count(attempt, next);
    try {
      await this.#log.record({ delivery, attempt, next });
    } catch (error) {
      this.#logger.error(`attempt of ${delivery.id} is not recorded: ${String(error)}`);
    }
    const wasAwaited = this.#slots.release(delivery, attempt);
    if (wasAwaited) this.scheduler.runSoon(JOB, REFILL_MS);
  }
}
