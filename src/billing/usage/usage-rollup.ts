import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import { DAY_MS } from '../../common/time/spans.js';

const INTERVAL_MS = 5_000;
/** Twice the statement timeout: longer than a statement may take before it gets its transaction id. */
const MARGIN_MS = 10_000;

/** The time span is halved when it has more than MANY_CALLS and doubled when it has fewer than FEW_CALLS. */
const MANY_CALLS = 20_000;
const FEW_CALLS = 5_000;
const SHORTEST_SPAN_MS = 1_000;
const LONGEST_SPAN_MS = 30 * DAY_MS;

const FOLD = `
  SELECT folded::int, is_behind
    FROM usage_fold($1 * interval '1 millisecond', $2 * interval '1 millisecond')`;

interface FoldRow {
  readonly folded: number;
  readonly is_behind: boolean;
}

/** Maintains the sums of usage. It folds calls that have ended, one time span per transaction. */
@Injectable()
export class UsageRollup implements OnApplicationBootstrap {
  private spanMs = 60_000;

  constructor(
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.start({ name: 'usage', intervalMs: INTERVAL_MS, tick: () => this.tick() });
  }

  /** Folds all calls that can be folded now. Throws if the database cannot be reached; the next tick continues there. */
  async tick(marginMs = MARGIN_MS): Promise<void> {
    while (await this.fold(marginMs));
  }

  private async fold(marginMs: number): Promise<boolean> {
    try {
      const [row] = await this.dataSource.query<FoldRow[]>(FOLD, [this.spanMs, marginMs]);
      if (row === undefined) return false;
      if (row.folded > MANY_CALLS) this.scaleSpan(0.5);
      else if (row.folded < FEW_CALLS && row.is_behind) this.scaleSpan(2);
      return row.is_behind;
    } catch (error) {
      // The time span may have been too long for one statement.
      this.scaleSpan(0.25);
      throw error;
    }
  }

  private scaleSpan(factor: number): void {
    const spanMs = Math.round(this.spanMs * factor);
    this.spanMs = Math.min(LONGEST_SPAN_MS, Math.max(SHORTEST_SPAN_MS, spanMs));
  }
}
