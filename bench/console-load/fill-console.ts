import type { DataSource } from 'typeorm';
import { NIL_UUID } from '../../src/billing/usage/usage-request.js';

const CHUNK = 1_000_000;
const DAYS = 31;
const HOURS_KEPT_DAYS = 14;
/** A task and a delivery for so many calls. */
const CALLS_PER_TASK = 100;

/** How much there is. */
export interface ConsoleStock {
  readonly executions: number;
  readonly accounts: number;
}

const account = (n: string) => `('01900000-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
const key = (n: string) => `('01900000-0000-7000-8001-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
/** Ids grow with time, as those of the gateway do. */
const idAt = (at: string, n: string) =>
  `(lpad(to_hex((extract(epoch FROM ${at}) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(${n}), 15, '0'))::uuid`;

/** The account with a hundredth of all calls. */
export const LARGE_ACCOUNT = account('1');
const CREDIT = 1_000_000_000_000;

const ACCOUNTS = `
  INSERT INTO account (id, name, posted, created_at)
    SELECT ${account('n')}, 'account ' || n, ${CREDIT}, now() - interval '60 days' FROM generate_series(1, $1::int) n`;
const KEYS = `
  INSERT INTO api_key (id, account_id, prefix, hash, created_at)
    SELECT ${key('n')}, ${account('n')}, 'sk-x', sha256(n::text::bytea), now() - interval '60 days' FROM generate_series(1, $1::int) n`;

/** All but the primary key. */
const INDEXES = `
  SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
   WHERE indrelid = 'execution'::regclass AND NOT indisprimary`;

/** Calls of a month, of eight models, of which an account uses two; every thousandth failed. */
const EXECUTIONS = `
  INSERT INTO execution (account_id, id, api_key_id, held, model, endpoint, status, charged, error_code, completed_at, provider,
                         upstream_model, provider_request_id, unit, quantity, unit_price, estimated, first_byte_ms, duration_ms,
                         created_at, cost)
  SELECT ${account('a')}, ${idAt('at', 'n')}, ${key('a')}, 1920, 'aud-v' || (a + n % 2) % 8, '/v1/audio/speech',
         CASE WHEN n % 1000 = 1 THEN 'failed' ELSE 'succeeded' END, CASE WHEN n % 1000 <> 1 THEN 1920 END,
         CASE WHEN n % 1000 = 1 THEN 'provider_timeout' END, at, 'elevenlabs', 'eleven_v' || (a + n % 2) % 8, 'req_' || n, 'code_point', '16',
         '"120"', false, 300, 300 + n % 8 * 50, at, CASE WHEN n % 1000 <> 1 THEN 900 END
    FROM generate_series($1::bigint, $2::bigint) n,
         LATERAL (SELECT CASE WHEN n % 100 = 0 THEN 1 ELSE 2 + abs(hashint8(n)) % ($4::int - 1) END AS a,
                         now() - ($3 - n) * interval '${DAYS} days' / $3 AS at) t`;

const COLUMNS = 'account_id, api_key_id, model, endpoint, provider, upstream_model';
const SUMS =
  'calls, failures, quantity, charged, input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost, costed, below_cost';
const OF_CALLS = `count(*), count(*) FILTER (WHERE status = 'failed'), count(*) * 16, coalesce(sum(charged), 0), 0, 0, 0, 0,
         coalesce(sum(cost), 0), count(cost), 0`;
const SUMMED = SUMS.split(', ')
  .map((name) => `sum(${name})`)
  .join(', ');

/** Sums by day or hour, those of everybody too, as the rollup would have made them. */
const sumsBy = (unit: 'day' | 'hour', time: string, since: string): string[] => {
  const [table, latencies] = [
    `usage_${unit}`,
    unit === 'day' ? 'usage_latency' : 'usage_hour_latency',
  ];
  const ofEverybody = `'${NIL_UUID}', '${NIL_UUID}', model, endpoint, provider, upstream_model`;
  return [
    `INSERT INTO ${table} (${COLUMNS}, ${unit}, ${SUMS})
       SELECT ${COLUMNS}, ${time}, ${OF_CALLS} FROM execution WHERE completed_at >= ${since} GROUP BY 1, 2, 3, 4, 5, 6, 7`,
    `INSERT INTO ${latencies} (${COLUMNS}, ${unit}, bucket, calls)
       SELECT ${COLUMNS}, ${time}, usage_bucket(duration_ms), count(*) FROM execution WHERE completed_at >= ${since}
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8`,
    `INSERT INTO ${table} (${COLUMNS}, ${unit}, ${SUMS})
       SELECT ${ofEverybody}, ${unit}, ${SUMMED} FROM ${table} GROUP BY 3, 4, 5, 6, 7`,
    `INSERT INTO ${latencies} (${COLUMNS}, ${unit}, bucket, calls)
       SELECT ${ofEverybody}, ${unit}, bucket, sum(calls) FROM ${latencies} GROUP BY 3, 4, 5, 6, 7, 8`,
  ];
};

const REST = [
  `INSERT INTO usage_month (account_id, month, api_key_id, ${SUMS})
     SELECT account_id, date_trunc('month', day::timestamp)::date, api_key_id, ${SUMMED} FROM usage_day
      WHERE account_id <> '${NIL_UUID}' GROUP BY 1, 2, 3`,
  `INSERT INTO usage_account (account_id, charged, cost)
     SELECT account_id, sum(charged), sum(cost) FROM usage_day WHERE account_id <> '${NIL_UUID}' GROUP BY 1`,
  `INSERT INTO ledger_entry (account_id, kind, amount, balance_after, reference)
     SELECT id, 'credit', ${CREDIT}, ${CREDIT}, 'credit' FROM account`,
  `INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference, created_at)
     SELECT account_id, id, 'charge', -charged, ${CREDIT}, 'x', created_at FROM execution
      WHERE account_id = ${LARGE_ACCOUNT} AND charged > 0 ORDER BY created_at`,
  // Everything is in the sums and was looked at, and no audit reads it while the bench runs.
  `UPDATE usage_state SET folded_until = now()`,
  `UPDATE call_look SET looked_until = now()`,
  `UPDATE audit_state SET claimed_at = now(), finished_at = now(), ok = true`,
];

/** Fills an empty database: accounts, calls, and the sums of usage that the rollup would have made. */
export async function fillConsole(
  patient: DataSource,
  { executions, accounts }: ConsoleStock,
): Promise<void> {
  await patient.query(ACCOUNTS, [accounts]);
  await patient.query(KEYS, [accounts]);
  // Their indexes are built once, after the rows: that takes a third of the time.
  const indexes = await patient.query<{ name: string; definition: string }[]>(INDEXES);
  for (const { name } of indexes) await patient.query(`DROP INDEX ${name}`);
  for (let from = 1; from <= executions; from += CHUNK) {
    const to = Math.min(executions, from + CHUNK - 1);
    await patient.query(EXECUTIONS, [from, to, executions, accounts]);
  }
  for (const { definition } of indexes) await patient.query(definition);
  const today = `date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`;
  for (const statement of [
    ...sumsBy('day', `(completed_at AT TIME ZONE 'UTC')::date`, `'-infinity'`),
    ...sumsBy(
      'hour',
      'usage_hour_of(completed_at)',
      `${today} - interval '${HOURS_KEPT_DAYS} days'`,
    ),
    ...REST,
    'VACUUM ANALYZE',
  ])
    await patient.query(statement);
}

/** Tasks like the one that there is, and as many deliveries of them. */
export async function multiplyTask(patient: DataSource, stock: ConsoleStock): Promise<void> {
  const copies = Math.ceil(stock.executions / CALLS_PER_TASK);
  const at = `now() - n * interval '${DAYS} days' / ${copies}`;
  const id = idAt(at, 'n');
  const owner = account(`1 + n % ${stock.accounts}`);
  const changed = `jsonb_build_object('id', ${id}, 'account_id', ${owner}, 'api_key_id', ${key(`1 + n % ${stock.accounts}`)}, 'created_at', ${at}`;
  const series = `generate_series(1, ${copies}) n`;
  for (const statement of [
    `INSERT INTO hold SELECT h.* FROM hold t, ${series},
       LATERAL jsonb_populate_record(t, ${changed})) h`,
    `INSERT INTO task SELECT c.* FROM task t, ${series},
       LATERAL jsonb_populate_record(t, ${changed}, 'completed_at', ${at})) c`,
    `INSERT INTO webhook_delivery (account_id, id, owner_id, url, origin, body, status, created_at)
       SELECT ${owner}, ${id}, ${id}, 'https://a.example/hook', 'https://a.example', '{}',
              CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'delivered' END, ${at} FROM ${series}`,
    'VACUUM ANALYZE task, hold, webhook_delivery',
  ])
    await patient.query(statement);
}
