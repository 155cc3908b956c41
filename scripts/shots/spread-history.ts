import type { DataSource } from 'typeorm';
import { UsageRollup } from '../../src/billing/usage/usage-rollup.js';
import type { ShotsGateway } from './shots-gateway.js';

const FOLD_PAUSE_MS = 50;
const PATIENCE_MS = 60_000;

/** When an hour of the history was played, by the clock of the database. */
export interface PlayedHour {
  readonly from: string;
  readonly to: string;
}

const SLOT = `
  CREATE TEMPORARY TABLE shots_hour ON COMMIT DROP AS
  SELECT played_from, played_to, $2::timestamptz - ago * interval '1 hour' AS past
    FROM jsonb_to_recordset($1::jsonb) AS h(ago int, played_from timestamptz, played_to timestamptz)`;
/** How far a moment of the play lies in the future of its place in the history; what came before the first hour stays before it. */
const BACK = `
  CREATE FUNCTION pg_temp.shots_back(at timestamptz) RETURNS interval LANGUAGE sql AS $$
    SELECT coalesce(
      (SELECT at - past - (at - played_from) * (3600 / extract(epoch FROM played_to - played_from))::float8
         FROM shots_hour WHERE played_from <= at AND at < played_to),
      CASE WHEN at < (SELECT min(played_from) FROM shots_hour)
           THEN (SELECT min(played_from) - min(past) FROM shots_hour) ELSE interval '0' END)
  $$`;

const shifted = (columns: string, by: string): string =>
  columns
    .split(' ')
    .map((column) => `${column} = ${column} - ${by}`)
    .join(', ');
/** Moves moments of each row as far as its own first one. */
const moved = (table: string, columns: string, anchor = 'created_at'): string =>
  `UPDATE ${table} SET ${shifted(columns, `pg_temp.shots_back(${anchor})`)}`;

/**
 * All moments of a row move by the same time, so that what took a second still does. Charges move with their calls, so the order of
 * the ledger stays, as each account did one thing after the other. A deed of an operator or a credit has its own moment.
 */
const MOVES = [
  `UPDATE ledger_entry e SET created_at = e.created_at - pg_temp.shots_back(coalesce(
     (SELECT x.created_at FROM execution x WHERE e.kind = 'charge' AND x.account_id = e.account_id AND x.id = e.hold_id),
     (SELECT h.created_at FROM hold h WHERE e.kind = 'charge' AND h.account_id = e.account_id AND h.id = e.hold_id), e.created_at))`,
  `UPDATE webhook_attempt a SET started_at = started_at - pg_temp.shots_back(coalesce((SELECT t.created_at
     FROM webhook_delivery d JOIN task t ON t.id = d.owner_id WHERE d.account_id = a.account_id AND d.id = a.delivery_id), started_at))`,
  `UPDATE webhook_delivery d SET created_at = d.created_at - pg_temp.shots_back(coalesce(
     (SELECT t.created_at FROM task t WHERE t.id = d.owner_id), d.created_at))`,
  moved('execution', 'created_at completed_at'),
  moved('task', 'created_at completed_at evidence_at'),
  moved('hold', 'created_at resolved_at'),
  moved('account', 'created_at'),
  moved('api_key', 'created_at'),
  moved('webhook_endpoint', 'created_at'),
  moved('price_book', 'created_at'),
  moved('price_book_version', 'valid_from created_at'),
  moved('operator_action', 'at', 'at'),
];
const REST = [
  `UPDATE usage_state SET folded_until = (SELECT min(past) FROM shots_hour) - interval '1 day', candidate_at = NULL`,
  `UPDATE audit_state SET executions_from = '-infinity', holds_from = '-infinity'`,
];

/** Keeps the usage from being summed up while `play` runs. */
export async function withoutRollup(gateway: ShotsGateway, play: () => Promise<void>) {
  const rollup = gateway.app.get(UsageRollup);
  const tick = rollup.tick.bind(rollup);
  rollup.tick = () => Promise.resolve();
  try {
    await play();
  } finally {
    rollup.tick = tick;
  }
}

/** Places each hour that was played in seconds where it belongs, so that the last one ends now. No amount and no order changes. */
export async function spreadHistory(
  dataSource: DataSource,
  hours: readonly PlayedHour[],
): Promise<void> {
  const rows = hours.map(({ from, to }, index) => ({
    ago: hours.length - index,
    played_from: from,
    played_to: to,
  }));
  await dataSource.transaction(async (manager) => {
    // Rows that are final refuse any change, as a rule of the gateway; here only their moments change.
    await manager.query(`SET LOCAL session_replication_role = 'replica'`);
    await manager.query(SLOT, [JSON.stringify(rows), hours.at(-1)?.to]);
    await manager.query(BACK);
    for (const statement of [...MOVES, ...REST]) await manager.query(statement);
  });
}

/** Sums up all usage of before. */
export async function foldHistory({ app, dataSource }: ShotsGateway): Promise<void> {
  const [start] = await dataSource.query<[{ at: string }]>('SELECT clock_timestamp()::text AS at');
  const rollup = app.get(UsageRollup);
  const giveUpAt = performance.now() + PATIENCE_MS;
  const folded = 'SELECT FROM usage_state WHERE folded_until > $1';
  while ((await dataSource.query<unknown[]>(folded, [start.at])).length === 0) {
    if (performance.now() > giveUpAt) throw new Error('The usage is not summed up.');
    await rollup.tick(0);
    await new Promise((resolve) => setTimeout(resolve, FOLD_PAUSE_MS));
  }
}
