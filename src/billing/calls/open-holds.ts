import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { cursorOf, type Page, pageOf, type PageRequest } from '../../common/paging/page.js';
import { transaction } from '../../platform/database/transaction.js';

/** What may hold money: a synchronous call, or a task. */
export const HOLDERS = ['execution', 'task'] as const;
export type Holder = (typeof HOLDERS)[number];

/** Money that a running call or an open task reserves. */
export interface ListedHold {
  readonly holder: Holder;
  /** UUID of the call or task. */
  readonly id: string;
  readonly accountId: string;
  readonly apiKeyId: string | null;
  readonly model: string;
  /** `running` of a call; of a task its status. */
  readonly status: string;
  readonly run: string | null;
  readonly amountMicroUsd: MicroUsd;
  readonly ageSeconds: number;
  readonly createdAt: Date;
}

/** Which holds to list; all filters must hold. */
export interface OpenHoldQuery extends PageRequest {
  readonly accountId?: string | undefined;
  readonly model?: string | undefined;
  readonly holder?: Holder | undefined;
  /** Exclusive. */
  readonly createdBefore?: Date | undefined;
}

interface OpenHoldRow {
  readonly holder: Holder;
  readonly id: string;
  readonly account_id: string;
  readonly api_key_id: string | null;
  readonly model: string;
  readonly status: string;
  readonly run: string | null;
  readonly amount: string;
  readonly age: number;
  readonly created_at: Date;
}

/** No table is read whole, and each open call and task is looked up by its key. */
const BY_INDEX = `
  SELECT set_config(name, 'off', true) FROM unnest('{enable_seqscan,enable_hashjoin,enable_mergejoin}'::text[]) name`;

const FILTERS = `($2::text IS NULL OR model = $2) AND ($4::timestamptz IS NULL OR created_at < $4)`;
/** Ids grow with time, so their order is that of age. */
const OLDEST_FIRST = `ORDER BY id LIMIT $6`;

const tasksIn = (status: string) => `
  (SELECT id, account_id FROM task
    WHERE status = '${status}' AND ($1::uuid IS NULL OR account_id = $1) AND ($5::uuid IS NULL OR id > $5) AND ${FILTERS}
      AND 'task' = coalesce($3, 'task')
    ${OLDEST_FIRST})`;

// The sweep has noted every running call that began until looked_until; what is newer is seconds old and found by its time.
const OPEN_HOLDS = `
  WITH fresh AS MATERIALIZED (
    SELECT account_id, id FROM execution
     WHERE created_at > (SELECT looked_until FROM call_look) AND status = 'running'
  ), known AS MATERIALIZED (
    SELECT account_id, id FROM open_call UNION SELECT account_id, id FROM fresh
  ), open AS (
    (SELECT 'execution' AS holder, e.* FROM (
       SELECT * FROM known
        WHERE ($1::uuid IS NULL OR account_id = $1) AND ($5::uuid IS NULL OR id > $5) AND 'execution' = coalesce($3, 'execution')
        ORDER BY id OFFSET 0) k
      CROSS JOIN LATERAL (
        SELECT x.id, x.account_id, api_key_id, model, status, run, held AS amount, created_at FROM execution x
         WHERE x.account_id = k.account_id AND x.id = k.id AND x.status = 'running' OFFSET 0) e
      WHERE ${FILTERS} ${OLDEST_FIRST.replace('BY id', 'BY k.id')})
    UNION ALL
    (SELECT 'task', t.id, t.account_id, t.api_key_id, t.model, t.status, t.run, t.amount, t.created_at FROM (
       ${['queued', 'processing', 'reconciliation_required'].map(tasksIn).join(' UNION ALL ')}) w
      CROSS JOIN LATERAL (
        SELECT t.*, h.amount FROM task t JOIN hold h ON h.account_id = t.account_id AND h.id = t.id AND h.state = 'open'
         WHERE t.account_id = w.account_id AND t.id = w.id OFFSET 0) t)
  )
  SELECT *, greatest(0, extract(epoch FROM now() - created_at))::float8 AS age FROM open ${OLDEST_FIRST}`;

/** Reads what running calls and open tasks hold. What it reads grows with what is open, not with what ended. */
@Injectable()
export class OpenHolds {
  constructor(private readonly dataSource: DataSource) {}

  /** Holds, the oldest first; a call that ends meanwhile is left out. Throws 400 `invalid_request` for an invalid cursor. */
  async list(query: OpenHoldQuery): Promise<Page<ListedHold>> {
    const values = [
      query.accountId ?? null,
      query.model ?? null,
      query.holder ?? null,
      query.createdBefore ?? null,
      cursorOf(query, 'uuid'),
      query.limit + 1,
    ];
    const rows = await transaction(this.dataSource, async (manager) => {
      await manager.query(BY_INDEX);
      return manager.query<OpenHoldRow[]>(OPEN_HOLDS, values);
    });
    return pageOf(rows, query.limit, holdOf, ({ id }) => id);
  }
}

function holdOf(row: OpenHoldRow): ListedHold {
  return {
    holder: row.holder,
    id: row.id,
    accountId: row.account_id,
    apiKeyId: row.api_key_id,
    model: row.model,
    status: row.status,
    run: row.run,
    amountMicroUsd: BigInt(row.amount),
    ageSeconds: row.age,
    createdAt: row.created_at,
  };
}
