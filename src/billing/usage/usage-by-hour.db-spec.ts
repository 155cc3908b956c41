import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fundedAccount, IDLE_TICKER } from '../../../test/support/test-ledger.js';
import { UsageDesk } from '../../../test/support/usage-desk.js';
import { DAY_MS } from '../../common/time/spans.js';
import { auditBooks } from '../audit/usage-audit.js';
import { RecordRetention } from '../retention/record-retention.js';
import { NIL_UUID } from './usage-request.js';

const RUNS = 10;

/** A call that ended so many minutes ago. */
interface Past {
  readonly minutesAgo: number;
  readonly model: 'aud-v4' | 'gen-5';
  readonly charged: number;
  readonly cost: number;
}
const PAST: fc.Arbitrary<Past> = fc.record({
  minutesAgo: fc.integer({ min: 1, max: 3 * 24 * 60 }),
  model: fc.constantFrom('aud-v4', 'gen-5'),
  charged: fc.nat(1_000),
  cost: fc.nat(1_000),
});
const INSERT = `
  WITH call AS (
    INSERT INTO execution (account_id, id, created_at, held, model, endpoint, status, completed_at, charged, cost, duration_ms, unit, quantity)
    SELECT $1, gen_random_uuid(), ended, 1000, c.model, '/v1/audio/speech', 'succeeded', ended, c.charged, c.cost, 20, 'code_point', '1'
      FROM (SELECT c.*, $3::timestamptz - c."minutesAgo" * interval '1 minute' AS ended
              FROM jsonb_to_recordset($2::jsonb) AS c("minutesAgo" int, model text, charged bigint, cost bigint)) c
    RETURNING id, charged, completed_at)
  INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference, created_at)
  SELECT $1, id, 'charge', -charged, 0, 'x', completed_at FROM call WHERE charged > 0`;

let desk: UsageDesk;
// An audit names a hundred findings, and each test leaves some.
beforeEach(async () => {
  desk = await UsageDesk.open();
});
afterEach(() => desk.close());

/** Calls of the past, which the next fold finds. */
async function insert(accountId: string, calls: readonly Past[], now: Date): Promise<void> {
  await desk.dataSource.query(`UPDATE usage_state SET folded_until = now() - interval '40 days'`);
  await desk.dataSource.query(INSERT, [accountId, JSON.stringify(calls), now]);
}

function sumsBy(calls: readonly Past[], keyOf: (call: Past) => string) {
  const sums: Record<string, readonly [calls: number, charged: number, cost: number]> = {};
  for (const call of calls) {
    const [count, charged, cost] = sums[keyOf(call)] ?? [0, 0, 0];
    sums[keyOf(call)] = [count + 1, charged + call.charged, cost + call.cost];
  }
  return sums;
}

async function reportOf(accountId: string, ...groupBy: ('day' | 'hour' | 'model')[]) {
  const rows = await desk.rowsBy(accountId, ...groupBy);
  return Object.fromEntries(
    rows.map((row) => [
      groupBy.map((name) => row[name]).join(' '),
      [Number(row.calls), Number(row.charged), Number(row.cost)],
    ]),
  );
}

/** One account and time each, because the sums of everybody grow with every run. */
describe('usage by hour', () => {
  it('is what the calls of each hour were, before and after they are folded', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(PAST, { maxLength: 20 }), async (calls) => {
        await desk.dataSource.query('TRUNCATE execution, usage_pending');
        const accountId = await fundedAccount(desk.dataSource, 1_000n);
        const now = new Date();
        const hourOf = ({ minutesAgo }: Past) =>
          `${new Date(now.getTime() - minutesAgo * 60_000).toISOString().slice(0, 13)}:00:00Z`;
        await insert(accountId, calls, now);
        const byHour = sumsBy(calls, hourOf);
        const byBoth = sumsBy(calls, (call) => `${hourOf(call)} ${call.model}`);
        expect(await reportOf(accountId, 'hour')).toEqual(byHour);
        await desk.foldAll();
        expect(await reportOf(accountId, 'hour')).toEqual(byHour);
        expect(await reportOf(accountId, 'hour', 'model')).toEqual(byBoth);
        const hours = await desk.rowsBy(accountId, 'hour');
        expect(hours.map(({ hour }) => hour)).toEqual(Object.keys(byHour).sort().reverse());
        expect(hours.every(({ p50_bucket: bucket }) => bucket === 32)).toBe(true);
        expect(await reportOf(accountId, 'day')).toEqual(
          sumsBy(calls, (call) => hourOf(call).slice(0, 10)),
        );
      }),
      { numRuns: RUNS },
    );
  });

  const rulesOf = async () => {
    const { discrepancies } = await auditBooks(desk.dataSource, 'full');
    return discrepancies.map(({ rule }) => rule).filter((rule) => rule.includes('hours'));
  };
  const SUM = 'usage of a day is the sum of its hours';

  it.each([
    ['a micro-USD more in an hour', 'UPDATE usage_hour SET charged = charged + $2', [SUM]],
    ['a cost more in an hour', 'UPDATE usage_hour SET cost = cost + $2', [SUM]],
    [
      'a call with another latency',
      'UPDATE usage_hour_latency SET calls = calls + $2',
      ['latencies of a day are those of its hours'],
    ],
  ])('is compared with the days by a full audit: %s', async (_title, tamper, rules) => {
    const accountId = await fundedAccount(desk.dataSource, 1_000n);
    const call = { minutesAgo: 5, model: 'aud-v4', charged: 7, cost: 3 } as const;
    await insert(accountId, [call], new Date());
    await desk.foldAll();
    expect(await rulesOf()).toEqual([]);
    const ofHour = `${tamper} WHERE account_id = $1`;
    await desk.dataSource.query(ofHour, [accountId, 1]);
    expect(await rulesOf()).toEqual(rules);
    await desk.dataSource.query(ofHour, [accountId, -1]);
    expect(await rulesOf()).toEqual([]);
  });

  it('is kept for 14 whole days, and the audit looks no further back', async () => {
    const accountId = await fundedAccount(desk.dataSource, 1_000n);
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const oldest = new Date(today - 14 * DAY_MS);
    const call = { model: 'aud-v4', charged: 7, cost: 3 } as const;
    const at = (minutesAgo: number) => ({ ...call, minutesAgo });
    await insert(accountId, [at(0), at(1), at(60)], oldest);
    await desk.foldAll();
    const retention = new RecordRetention(desk.dataSource, IDLE_TICKER, {
      recordRetentionDays: undefined,
    });
    await retention.tick(undefined);
    expect(await reportOf(accountId, 'hour')).toEqual({
      [`${oldest.toISOString().slice(0, 13)}:00:00Z`]: [1, 7, 3],
    });
    for (const table of ['usage_hour', 'usage_hour_latency']) {
      const left = await desk.dataSource.query<object[]>(
        `SELECT FROM ${table} WHERE account_id IN ($1, '${NIL_UUID}') AND hour < $2`,
        [accountId, oldest],
      );
      expect([table, left]).toEqual([table, []]);
    }
    expect(await rulesOf()).toEqual([]);
  });
});
