import type { DataSource } from 'typeorm';
import { StatementBatcher } from '../platform/database/batching/statement-batcher.js';
import { PreparedStatement } from '../platform/database/prepared-statement.js';
import type { DeliveryAttempt } from './delivery.js';
import type { NextStep } from './retry-schedule.js';

/** How many deliveries may be claimed in all, per origin and per account. The maps have the origins and accounts that differ. */
export interface ClaimLimits {
  readonly total: number;
  readonly perOrigin: number;
  readonly origins: ReadonlyMap<string, number>;
  readonly perAccount: number;
  readonly accounts: ReadonlyMap<string, number>;
}

/** A delivery that this worker has leased for its next attempt. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly accountId: string;
  readonly ownerId: string;
  /** The type of the event of the account; null: the webhook of a task. */
  readonly event: string | null;
  readonly url: string;
  readonly origin: string;
  readonly sealedSecret: string | null;
  readonly body: Buffer;
  readonly retry: number | null;
  readonly fence: number;
}

/** A finished attempt and the next step of its delivery. */
export interface AttemptRecord {
  readonly delivery: Pick<ClaimedDelivery, 'id' | 'accountId' | 'fence'>;
  readonly attempt: DeliveryAttempt;
  readonly next: NextStep;
}

/** So many deliveries, the newest, are looked at where no index has what is looked for. */
export const MAX_LOOKED_AT = 100_000;
/** The host of a delivery: its origin is the scheme, host and port of the URL, and the account. */
export const HOST_OF_DELIVERY = `substring(origin, '^[^/]*//([^ ]*)')`;

/** Most accounts and receivers that one claim visits, in equal shares, if more is due than it reads at first. */
const MAX_LANES = 1_000;

/** Most attempts in one statement. */
const MAX_RECORDS = 256;
/** An attempt that cannot be recorded is tried again for this long; the lease of its delivery ends soon after. */
const RECORD_PATIENCE_MS = 15_000;

interface ClaimRow {
  readonly id: string;
  readonly account_id: string;
  readonly owner_id: string;
  readonly event: string | null;
  readonly url: string;
  readonly origin: string;
  readonly sealed_secret: string | null;
  readonly body: Buffer;
  readonly retry: number | null;
  readonly fence: number;
}

/** SQL statements of the worker. */
export class DeliveryStatements {
  private readonly claimStatement: PreparedStatement<ClaimRow>;
  private readonly recordStatement: PreparedStatement<object>;
  private readonly records = new StatementBatcher<AttemptRecord, undefined>({
    execute: async (records) => {
      await this.recordAll(records);
      return records.map(() => undefined);
    },
    groupOf: ({ delivery }) => delivery.accountId,
    maxBatch: MAX_RECORDS,
    retry: { patienceMsOf: () => RECORD_PATIENCE_MS },
  });

  constructor(dataSource: DataSource) {
    this.claimStatement = new PreparedStatement(
      dataSource,
      'webhook_claim',
      `SELECT id, account_id, owner_id, event, url, origin, sealed_secret, body, retry, fence
         FROM webhook_claim($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    );
    this.recordStatement = new PreparedStatement(
      dataSource,
      'webhook_record',
      'SELECT webhook_record($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::bigint[])',
    );
  }

  /**
   * Claims due deliveries within the limits, longest due first. The worker must finish them long before the lease ends.
   * Deliveries that another process is claiming may be skipped.
   */
  async claim(leaseMs: number, limits: ClaimLimits): Promise<ClaimedDelivery[]> {
    const rows = await this.claimStatement.run([
      null,
      MAX_LANES,
      leaseMs,
      limits.total,
      limits.perOrigin,
      [...limits.origins.keys()],
      [...limits.origins.values()],
      limits.perAccount,
      [...limits.accounts.keys()],
      [...limits.accounts.values()],
    ]);
    return rows.map((row) => ({
      id: row.id,
      accountId: row.account_id,
      ownerId: row.owner_id,
      event: row.event,
      url: row.url,
      origin: row.origin,
      sealedSecret: row.sealed_secret,
      body: row.body,
      retry: row.retry,
      fence: row.fence,
    }));
  }

  /**
   * Stores the attempt and updates its delivery, unless another worker has claimed it in the meantime. Attempts that end at
   * the same time share a statement. Throws the database's error when it cannot be stored.
   */
  async record(record: AttemptRecord): Promise<void> {
    await this.records.run(record);
  }

  private async recordAll(records: readonly AttemptRecord[]): Promise<void> {
    await this.recordStatement.run([
      records.map(({ delivery }) => delivery.accountId),
      records.map(({ delivery }) => delivery.id),
      records.map(({ delivery }) => delivery.fence),
      records.map(({ attempt }) => attempt.startedAt),
      records.map(({ attempt }) => attempt.statusCode),
      records.map(({ attempt }) => attempt.error),
      records.map(({ attempt }) => attempt.durationMs),
      records.map(({ next }) => next.status),
      records.map(({ next }) => next.retry),
      records.map(({ next }) => next.waitMs),
    ]);
  }
}
