import type { MicroUsd } from '../../common/money/micro-usd.js';

/** The counters of a run: what its calls and tasks spent and hold. */
export interface Run {
  /** The name that the caller gave it. */
  readonly id: string;
  /** Null: it only counts. */
  readonly limitMicroUsd: MicroUsd | null;
  readonly spentMicroUsd: MicroUsd;
  readonly heldMicroUsd: MicroUsd;
  readonly calls: number;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
}

/** The columns of a run, as the driver reads them. */
export interface RunRow {
  readonly id: string;
  readonly spend_limit: string | null;
  readonly spent: string;
  readonly held: string;
  readonly calls: string;
  readonly created_at: Date;
  readonly last_used_at: Date;
}

/** The run in a row. */
export function runOf(row: RunRow): Run {
  return {
    id: row.id,
    limitMicroUsd: row.spend_limit === null ? null : BigInt(row.spend_limit),
    spentMicroUsd: BigInt(row.spent),
    heldMicroUsd: BigInt(row.held),
    calls: Number(row.calls),
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}
