import { SchedulerRegistry } from '@nestjs/schedule';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { SecretBox } from '../../src/common/secrets/secret-box.js';
import { Clock } from '../../src/common/time/clock.js';
import type { GatewayConfig } from '../../src/platform/config/gateway-config.js';
import { EgressRules } from '../../src/platform/http-client/egress-rules.js';
import { SsrfSafeDialer } from '../../src/platform/http-client/ssrf-safe-dialer.js';
import { GatewayUrl } from '../../src/platform/http-client/gateway-url.js';
import { Tracing } from '../../src/platform/observability/tracing.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { Scheduler } from '../../src/platform/scheduler/scheduler.js';
import type { Delivery } from '../../src/webhooks/delivery.js';
import { WebhookDeliveries } from '../../src/webhooks/webhook-deliveries.js';
import { WebhookMetrics } from '../../src/webhooks/webhook-metrics.js';
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.js';
import { WebhookSender } from '../../src/webhooks/webhook-sender.js';
import { WebhookUrlPolicy } from '../../src/webhooks/webhook-url-policy.js';
import { WebhookWorker } from '../../src/webhooks/webhook-worker.js';

/** A clock that stands still until it is moved. */
export class HandClock extends Clock {
  constructor(private ms = Date.now()) {
    super();
  }

  nowMs(): number {
    return this.ms;
  }

  move(ms: number): void {
    this.ms += ms;
  }
}

interface DeskOptions {
  readonly clock?: Clock;
  readonly timeoutMs?: number;
  readonly delaysMs?: readonly number[];
  /** Interval of a worker that ticks by itself. */
  readonly tickMs?: number;
  readonly publicUrl?: string;
  /** The value of `EGRESS_ALLOW`. */
  readonly egressAllow?: string;
  readonly dialer?: SsrfSafeDialer;
}

/** The spec's waits between attempts. */
export const SPEC_DELAYS_MS = [10_000, 30_000, 60_000, 300_000, 1_800_000, 7_200_000];

/** Webhooks without a gateway: a test adds deliveries and makes a worker tick. */
export class WebhookHarness {
  readonly deliveries: WebhookDeliveries;
  readonly secrets: WebhookSecrets;
  readonly targets: WebhookUrlPolicy;
  readonly metrics = new Metrics();
  private readonly sender: WebhookSender;
  private readonly clock: Clock;
  private readonly config: GatewayConfig;

  constructor(
    private readonly dataSource: DataSource,
    options: DeskOptions = {},
  ) {
    const { timeoutMs = 2_000, delaysMs = SPEC_DELAYS_MS, tickMs = 50 } = options;
    this.clock = options.clock ?? new HandClock();
    this.config = {
      taskTickMs: tickMs,
      webhookTimeoutMs: timeoutMs,
      webhookRetryDelaysMs: delaysMs,
      host: '127.0.0.1',
      port: 0,
    } as unknown as GatewayConfig;
    const rules = EgressRules.parse(options.egressAllow ?? '127.0.0.1');
    const dialer = options.dialer ?? new SsrfSafeDialer({ rules });
    this.secrets = new WebhookSecrets(new SecretBox(['a-secret-key-for-tests-0123456789']));
    const own = new GatewayUrl(options.publicUrl, this.config);
    this.targets = new WebhookUrlPolicy(dialer, rules, own);
    this.deliveries = new WebhookDeliveries(dataSource, this.clock);
    this.sender = new WebhookSender(dialer, this.targets, this.secrets, this.clock, this.config);
  }

  /** A worker, as a process has one; ticks only when it is told to. */
  worker(): WebhookWorker {
    const metrics = new Metrics();
    const scheduler = new Scheduler(new SchedulerRegistry(), this.clock, metrics, { role: 'all' });
    return new WebhookWorker(
      this.dataSource,
      this.sender,
      new WebhookMetrics(metrics, this.clock),
      scheduler,
      new Tracing(),
      this.config,
    );
  }

  /** Adds a delivery; answers the id of its owner. */
  async enqueue(
    url: string,
    body: string | Buffer = '{"id":"task_1","status":"succeeded"}',
    secret: string | null = null,
    accountId: string = randomUUID(),
  ): Promise<string> {
    const ownerId = randomUUID();
    const [id, ...columns] = this.deliveries.columnsOf({
      accountId,
      url,
      sealedSecret: secret === null ? null : this.secrets.seal(secret, ownerId),
      body: Buffer.from(body),
    });
    const values = [accountId, id, ownerId, ...columns];
    await this.dataSource.query('SELECT webhook_enqueue($1, $2, $3, $4, $5, $6, $7, $8)', values);
    return ownerId;
  }

  /** Moves due times and leases into the past, because the clock of the database decides about them. */
  async age(ms: number): Promise<void> {
    const sql = `UPDATE webhook_delivery SET due_at = due_at - $1 * interval '1 millisecond'`;
    await this.dataSource.query(sql, [ms]);
  }

  /** The newest delivery of an owner. */
  async deliveryOf(ownerId: string): Promise<Delivery> {
    const { items } = await this.deliveries.list({ ownerId }, { limit: 1 });
    const [delivery] = items;
    if (delivery === undefined) throw new Error('there is no delivery');
    return delivery;
  }
}
