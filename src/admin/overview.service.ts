import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  type AccountsRunningDry,
  findAccountsRunningDry,
} from '../billing/accounts/accounts-running-dry.js';
import { type BookState, readBookState } from '../billing/audit/book-state.js';
import { Reversals } from '../billing/recovery/reversals.js';
import { UsageReports, type UsageRow } from '../billing/usage/usage-reports.js';
import { Clock } from '../common/time/clock.js';
import { HOUR_MS } from '../common/time/spans.js';
import { Metrics } from '../platform/observability/metrics.js';
import { type ProviderKey, ProviderRegistry } from '../providers/routing/provider-registry.js';
import {
  readTaskBacklog,
  readUndecidedTasks,
  type TaskBacklog,
  type UndecidedTasks,
} from '../tasks/task-backlog.js';
import { type OverdueDeliveries, readOverdueDeliveries } from '../webhooks/webhook-metrics.js';

/** How long an overview is answered again. Whoever looks meanwhile gets the same one. */
const CACHE_MS = 5_000;
/** Hours of usage, the one that runs among them. */
export const OVERVIEW_HOURS = 24;
/** An account runs dry when what is available lasts for fewer days. */
export const DRY_DAYS = 7;
const MAX_DRY_ACCOUNTS = 10;

/** A circuit breaker of this process that lets no call through. */
export interface OpenBreaker {
  readonly provider: string;
  readonly operation: string;
}

/** Whether the gateway is well, and whether the books are right. */
export interface Overview {
  readonly atMs: number;
  readonly books: BookState;
  /** The beginnings of the last hours, the newest first. */
  readonly hours: readonly string[];
  /** Usage of those of them that have any. */
  readonly usage: readonly UsageRow[];
  readonly latency: Pick<UsageRow, 'p50_bucket' | 'p99_bucket'>;
  readonly tasks: TaskBacklog;
  readonly undecided: UndecidedTasks;
  readonly webhooks: OverdueDeliveries;
  readonly runningDry: AccountsRunningDry;
  /** Charges and holds that this process still has to give back. */
  readonly owedReleases: number;
  readonly breakers: readonly OpenBreaker[];
  readonly providers: readonly ProviderKey[];
  readonly isSandboxOnly: boolean;
}

/** Reads the overview. Every figure comes from a sum, an index, or one row per account; no call is read that is in the sums. */
@Injectable()
export class OverviewService {
  private latest: Promise<Overview> | undefined;
  private readAtMs = -Infinity;

  constructor(
    private readonly dataSource: DataSource,
    private readonly usage: UsageReports,
    private readonly registry: ProviderRegistry,
    private readonly reversals: Reversals,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
  ) {}

  /** The overview, at most {@link CACHE_MS} old. Rejects if the database does not answer; the next call then asks again. */
  read(): Promise<Overview> {
    const nowMs = this.clock.nowMs();
    if (this.latest === undefined || nowMs - this.readAtMs >= CACHE_MS) {
      const latest = this.compose(nowMs);
      this.readAtMs = nowMs;
      this.latest = latest;
      latest.catch(() => {
        if (this.latest === latest) this.latest = undefined;
      });
    }
    return this.latest;
  }

  private async compose(atMs: number): Promise<Overview> {
    const { dataSource, registry } = this;
    const hours = lastHours(atMs);
    const first = hours.at(-1) ?? '';
    // One after the other: an overview takes one connection of the pool.
    return {
      atMs,
      books: await readBookState(dataSource),
      hours,
      usage: await this.usageOf(first, hourAt(atMs + HOUR_MS)),
      latency: await this.usage.latencySince(first),
      tasks: await readTaskBacklog(dataSource),
      undecided: await readUndecidedTasks(dataSource),
      webhooks: await readOverdueDeliveries(dataSource),
      runningDry: await findAccountsRunningDry(dataSource, {
        days: DRY_DAYS,
        limit: MAX_DRY_ACCOUNTS,
      }),
      owedReleases: this.reversals.size,
      breakers: await this.openBreakers(),
      providers: registry.keys,
      isSandboxOnly: registry.isSandboxOnly,
    };
  }

  private usageOf(from: string, to: string): Promise<UsageRow[]> {
    const everything = { accountId: undefined, apiKeyId: undefined, model: undefined };
    const page = { limit: OVERVIEW_HOURS, offset: 0 };
    return this.usage.rows({ groupBy: ['hour'], from, to, ...everything, ...page });
  }

  private async openBreakers(): Promise<OpenBreaker[]> {
    const { values } = await this.metrics.breakers.get();
    return values.flatMap(({ value, labels: { provider, operation } }) =>
      value === 0 || provider === undefined || operation === undefined
        ? []
        : [{ provider: String(provider), operation: String(operation) }],
    );
  }
}

/** The hour of a time, as usage names it. */
const hourAt = (ms: number) => `${new Date(ms).toISOString().slice(0, 13)}:00:00Z`;

const lastHours = (nowMs: number): string[] =>
  Array.from({ length: OVERVIEW_HOURS }, (_, ago) => hourAt(nowMs - ago * HOUR_MS));
