import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';
import { Ticker } from '../ticker/ticker.js';

const INTERVAL_MS = 600_000;
/** Records one statement looks at: their accounts are locked meanwhile. */
const BATCH = 500;
/** Statements of one tick; the next one goes on from there. */
const MAX_BATCHES = 2_000;

interface BatchRow {
  readonly seen: number;
  readonly dropped: number;
}

/**
 * Drops calls and tasks that ended more than `RECORD_RETENTION_DAYS` ago, once an audit has proven them and usage has their
 * sums; ledger entries stay (docs/adr/0016). Without that setting nothing is dropped.
 */
@Injectable()
export class RecordRetention implements OnApplicationBootstrap {
  readonly #logger = new Logger(RecordRetention.name);

  constructor(
    private readonly dataSource: DataSource,
    private readonly ticker: Ticker,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'recordRetentionDays'>,
  ) {}

  onApplicationBootstrap(): void {
    const { recordRetentionDays: days } = this.config;
    if (days === undefined) return;
    this.ticker.start({ name: 'retention', intervalMs: INTERVAL_MS, tick: () => this.tick(days) });
  }

  /** Looks at every record that is older once, in bounded batches; returns how many were dropped. */
  async tick(days: number): Promise<number> {
    const dropped = (await this.drop('calls', days)) + (await this.drop('tasks', days));
    if (dropped > 0) this.#logger.log(`${dropped} records older than ${days} days are dropped`);
    return dropped;
  }

  private async drop(what: 'calls' | 'tasks', days: number): Promise<number> {
    let sum = 0;
    for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
      const [row] = await this.dataSource.query<BatchRow[]>(
        `SELECT * FROM record_drop_${what}($1, $2)`,
        [days, BATCH],
      );
      sum += row?.dropped ?? 0;
      if ((row?.seen ?? 0) < BATCH) break;
    }
    return sum;
  }
}
