import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { ageRows as passDays } from '../../../test/support/age-rows.js';
import { endTask } from '../../../test/support/end-task.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import {
  FAILURE,
  fundedAccount,
  ledgerOf,
  startOf,
  successOf,
} from '../../../test/support/test-ledger.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { DAY_MS } from '../../common/time/spans.js';
import type { Scheduler } from '../../platform/scheduler/scheduler.js';
import { auditLedger } from '../audit/audit.js';
import { RecordRetention } from './record-retention.js';
import { auditBooks } from '../audit/usage-audit.js';

const DAYS = 30;
const STEP_DAYS = 11;
const ROUNDS = 7;
/** Rounds that are younger than {@link DAYS} at the end. */
const YOUNG_ROUNDS = 2;
const [RECORDS_PER_ROUND, ACCOUNTS] = [10, 3];
const [FUNDS, PAUSE_MS] = [1_000_000n, 20];
const NO_ID = '00000000-0000-0000-0000-000000000000';

interface Made {
  readonly kind: 'execution' | 'task';
  readonly id: string;
  readonly accountId: string;
  endedIn: number | undefined;
}

describe('the retention of records', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let retention: RecordRetention;
  let accountIds: string[];
  let round: number;
  beforeEach(async () => {
    database = await createTestDatabase();
    dataSource = database.dataSource;
    retention = new RecordRetention(dataSource, {} as Scheduler, { recordRetentionDays: DAYS });
    accountIds = [];
    round = 0;
    for (let count = 0; count < ACCOUNTS; count += 1) {
      accountIds.push(await fundedAccount(dataSource, FUNDS));
    }
  });
  afterEach(() => database.drop());

  async function ageRows(rounds = 1): Promise<void> {
    await passDays(dataSource, rounds * STEP_DAYS);
    round += rounds;
  }

  /** An id of this round, as it will be seen at the end of all rounds. */
  const newId = () => uuidV7(Date.now() - (ROUNDS - round) * STEP_DAYS * DAY_MS);
  const one = <T>(items: readonly T[]): T => items[randomInt(items.length)]!;

  async function begin(kind: Made['kind']): Promise<Made> {
    const accountId = one(accountIds);
    const id = newId();
    if (kind === 'execution') {
      const { executions } = ledgerOf(dataSource);
      await executions.begin({ ...startOf(accountId, 200n), executionId: id });
    } else {
      await dataSource.query(
        `SELECT task_submit($1, $2, NULL, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '', true, 'm',
           'waiting:sandbox', 200, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
        [accountId, id],
      );
      await dataSource.query(
        `INSERT INTO webhook_delivery (account_id, id, owner_id, url, origin, body, status, created_at)
         VALUES ($1, gen_random_uuid(), $2, 'u', 'o', '', 'delivered', now())`,
        [accountId, id],
      );
      await dataSource.query(
        `INSERT INTO idempotency_key VALUES ($1, '/v1/videos', $2, '', gen_random_uuid(), $3, now())`,
        [accountId, id, id],
      );
    }
    return { kind, id, accountId, endedIn: undefined };
  }

  async function end(made: Made, isPaid = randomInt(3) > 0): Promise<void> {
    const { kind, id, accountId } = made;
    made.endedIn = round;
    if (kind === 'execution') {
      const { executions } = ledgerOf(dataSource);
      const start = { ...startOf(accountId, 200n), executionId: id };
      if (isPaid) await executions.succeed(start, successOf(BigInt(randomInt(1, 201))));
      else await executions.fail(start, FAILURE);
    } else {
      await endTask(dataSource, accountId, id, isPaid ? 200 : 'failed');
    }
  }

  const refund = ({ kind, accountId, id }: Made) =>
    dataSource.query(`SELECT outcome FROM ${kind}_refund_v2($1, $2, NULL, NULL, 'goodwill')`, [
      accountId,
      id,
    ]);

  /** Until all that is there is folded: a transaction of any database of the server puts that off. */
  async function fold(): Promise<void> {
    const [from] = await dataSource.query<{ at: string }[]>(`SELECT clock_timestamp()::text AS at`);
    for (;;) {
      await dataSource.query(`SELECT usage_fold('1000 days', '0')`);
      const sql = 'SELECT FROM usage_state WHERE folded_until >= $1';
      if ((await dataSource.query<object[]>(sql, [from?.at])).length > 0) return;
      await sleep(PAUSE_MS);
    }
  }

  /** Calls of this test stay open over days, which an audit names as it should. */
  const findings = async (scope: 'full' | 'new') =>
    (await auditLedger(dataSource, scope)).discrepancies.filter(
      ({ rule }) => rule !== 'a call ends within a day',
    );
  const idsIn = async (table: string, column = 'id') =>
    (await dataSource.query<{ id: string }[]>(`SELECT ${column} AS id FROM ${table}`)).map(
      ({ id }) => id,
    );
  const facts = () =>
    dataSource.query<unknown[]>(
      `SELECT a.id, a.posted, a.held, (SELECT count(*) FROM ledger_entry WHERE account_id = a.id) AS entries,
              (SELECT coalesce(sum(charged), 0) FROM usage_day WHERE account_id = a.id)
              + (SELECT coalesce(sum(charged), 0) FROM usage_recent(a.id)) AS used
         FROM account a ORDER BY a.id`,
    );
  const sorted = (ids: readonly string[]) => [...ids].sort();

  it('drops only old, ended and audited records; ledger and usage stay unchanged', async () => {
    const all: Made[] = [];
    while (round < ROUNDS) {
      for (let made = 0; made < RECORDS_PER_ROUND; made += 1) {
        all.push(await begin(one(['execution', 'execution', 'task'])));
        const open = all.filter(({ endedIn }) => endedIn === undefined);
        if (randomInt(5) > 0) await end(one(open));
      }
      await refund(one(all));
      if (randomInt(3) > 0) await fold();
      if (randomInt(3) > 0) expect(await findings('new')).toEqual([]);
      const before = await facts();
      await retention.tick(DAYS);
      expect(await facts()).toEqual(before);
      expect(await findings(one(['full', 'new']))).toEqual([]);
      await ageRows();
    }
    for (const made of all) if (made.endedIn === undefined) await end(made);
    const before = await facts();
    await fold();
    expect(await findings('full')).toEqual([]);
    await retention.tick(DAYS);
    expect(await findings('full')).toEqual([]);
    expect(await facts()).toEqual(before);
    const young = all.filter(({ endedIn = 0 }) => endedIn >= ROUNDS - YOUNG_ROUNDS);
    const ids = (kind: Made['kind']) =>
      sorted(young.filter((made) => made.kind === kind).map(({ id }) => id));
    expect(sorted(await idsIn('execution'))).toEqual(ids('execution'));
    for (const [table, column] of [
      ['task', 'id'],
      ['hold', 'id'],
      ['webhook_delivery', 'owner_id'],
      ['idempotency_key', 'task_id'],
    ] as const) {
      expect(sorted(await idsIn(table, column))).toEqual(ids('task'));
    }
  });

  it.each<Made['kind']>(['execution', 'task'])(
    'drops an ended %s only after an audit, and nothing after an audit with findings',
    async (kind) => {
      const made = await begin(kind);
      await end(made, true);
      await ageRows(ROUNDS);
      await fold();
      expect(await retention.tick(DAYS)).toBe(0);
      await dataSource.query(`UPDATE account SET posted = posted + 1`);
      expect(await findings('new')).not.toEqual([]);
      expect(await retention.tick(DAYS)).toBe(0);
      await dataSource.query(`UPDATE account SET posted = posted - 1`);
      expect(await findings('new')).toEqual([]);
      await dataSource.query(`UPDATE account SET posted = posted + 1`);
      expect(await findings('new')).not.toEqual([]);
      expect(await retention.tick(DAYS)).toBe(0);
      await dataSource.query(`UPDATE account SET posted = posted - 1`);
      await refund(made);
      await fold();
      // The refund has not been audited yet.
      await dataSource.query(`UPDATE audit_state SET ok = true`);
      expect(await retention.tick(DAYS)).toBe(0);
      await ageRows();
      await fold();
      expect(await findings('new')).toEqual([]);
      expect(await retention.tick(DAYS)).toBe(1);
      expect(await idsIn(kind)).toEqual([]);
      expect(await refund(made)).toEqual([{ outcome: 'missing' }]);
      expect(await findings('full')).toEqual([]);
    },
  );

  it('drops nothing after a full audit with an old finding, until it is repaired', async () => {
    await end(await begin('execution'), true);
    await ageRows(ROUNDS);
    await fold();
    expect((await auditBooks(dataSource, 'full')).ok).toBe(true);
    await dataSource.query(`UPDATE execution SET charged = charged + 1`);
    for (const scope of ['full', 'new', 'new'] as const) {
      expect((await auditBooks(dataSource, scope)).ok).toBe(false);
      expect(await retention.tick(DAYS)).toBe(0);
    }
    await dataSource.query(`UPDATE execution SET charged = charged - 1`);
    await auditBooks(dataSource, 'new');
    expect(await retention.tick(DAYS)).toBe(1);
  });

  it('hides no loss: a full audit reports a record that was deleted in another way', async () => {
    const made = [await begin('task'), await begin('task'), await begin('task')];
    for (const each of made) await end(each, true);
    await ageRows(ROUNDS);
    await fold();
    expect(await findings('full')).toEqual([]);
    expect(await retention.tick(DAYS)).toBe(made.length);
    expect(await findings('full')).toEqual([]);
    await dataSource.query(`UPDATE dropped_record SET charged = charged - 1`);
    expect(await findings('full')).toMatchObject(
      [...new Set(made.map(({ accountId }) => accountId))].map(() => ({
        rule: 'entries without a record are those of dropped records',
      })),
    );
    await dataSource.query(`UPDATE dropped_record SET charged = charged + 1, until_id = $1`, [
      NO_ID,
    ]);
    expect(await findings('full')).toHaveLength(made.length);
  });

  it('drops all runs that no call used for 30 days, however many', async () => {
    const [count, age] = [1_100, "now() - interval '31 days'"];
    await dataSource.query(
      `INSERT INTO run (account_id, id, held, calls, created_at, last_used_at)
       SELECT $1, 'session ' || n, 0, 1, ${age}, CASE n WHEN 1 THEN now() ELSE ${age} END FROM generate_series(1, ${count}) n`,
      [accountIds[0]],
    );
    await retention.tick(DAYS);
    expect(await dataSource.query('SELECT id FROM run')).toEqual([{ id: 'session 1' }]);
  });

  it('drops nothing younger than 30 days, even if asked to', async () => {
    await expect(retention.tick(DAYS - 1)).rejects.toThrow('30 days');
  });
});
