import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dataSourceWithPlans } from '../../../test/support/explain-plans.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount } from '../../../test/support/test-ledger.js';
import { auditLedger } from '../../billing/audit/audit.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';

const MOST = 5;
const HOLD = 10n;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const newId = () => uuidV7(Date.now());

async function submit(
  account: string,
  id = newId(),
  kind = 'response',
  db = database.dataSource,
): Promise<string> {
  const [row] = await db.query<[{ outcome: string }]>(
    `SELECT outcome FROM task_submit_v2($1, $2, NULL, $3, 'text', 'gen', NULL, '', '{}', 'openai', '', true, 'm',
       'run/openai', $4, NULL, NULL, NULL, NULL, NULL, '/v1/responses', NULL, NULL, false, NULL, NULL, NULL,
       p_most_open => $5)`,
    [account, id, kind, HOLD.toString(), kind === 'response' ? MOST : null],
  );
  return row.outcome;
}

async function heldBy(account: string): Promise<bigint> {
  const [row] = await database.dataSource.query<[{ held: string }]>(
    'SELECT held FROM account WHERE id = $1',
    [account],
  );
  return BigInt(row.held);
}

describe('the open tasks of a kind whose number is bounded', () => {
  it('are so many at most, also where they are submitted at once, and a refused one holds nothing', async () => {
    const account = await fundedAccount(database.dataSource, 1_000n);
    await Promise.all([submit(account, newId(), 'song'), submit(account, newId(), 'song')]);
    const outcomes = await Promise.all(Array.from({ length: 3 * MOST }, () => submit(account)));
    const created = outcomes.filter((outcome) => outcome === 'created');
    expect(created).toHaveLength(MOST);
    expect(outcomes.filter((outcome) => outcome === 'too_many_open')).toHaveLength(2 * MOST);
    expect(await heldBy(account)).toBe(BigInt(MOST + 2) * HOLD);
    expect(await submit(account, newId(), 'song')).toBe('created');
    expect(await submit(await fundedAccount(database.dataSource, 1_000n))).toBe('created');
    expect(await auditLedger(database.dataSource, 'full')).toMatchObject({ discrepancies: [] });
  });

  it('make room when one ends, and a repeated submission needs none', async () => {
    const account = await fundedAccount(database.dataSource, 1_000n);
    const ids = Array.from({ length: MOST }, newId);
    for (const id of ids) await submit(account, id);
    expect(await submit(account)).toBe('too_many_open');
    expect(await submit(account, ids[0])).toBe('created');
    await database.dataSource.query(
      `SELECT task_complete($1, $2, NULL, '{queued}', false, 'failed', 'release', NULL, true, NULL, '{}', NULL, 'x', 'x', NULL,
         NULL, now(), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
      [account, ids[0]],
    );
    expect(await submit(account)).toBe('created');
    expect(await submit(account)).toBe('too_many_open');
  });

  it.each(['an empty table', 'many open tasks of other kinds'])(
    'are counted by an index of their own, with a plan that was made for %s',
    async (_made) => {
      const plans: string[] = [];
      const db = await dataSourceWithPlans(database.url, (statement, plan) => {
        if (statement.includes(`kind = 'response'`)) plans.push(plan);
      });
      const account = await fundedAccount(database.dataSource, 100_000n);
      await submit(account, newId(), 'response', db);
      await database.dataSource.query(
        `INSERT INTO task (account_id, id, kind, modality, model, details, provider, provider_base_url, on_sandbox,
           upstream_model, reserved)
         SELECT $1, gen_random_uuid(), 'song', 'audio', 'm', '{}', 'p', '', true, 'm', 1 FROM generate_series(1, 3000)`,
        [account],
      );
      for (let more = 1; more < MOST; more += 1) await submit(account, newId(), 'response', db);
      expect(await submit(account, newId(), 'response', db)).toBe('too_many_open');
      await db.destroy();
      await database.dataSource.query('ANALYZE task');
      expect(plans).toHaveLength(MOST + 1);
      for (const plan of plans)
        expect(plan).toMatch(/Index (Only )?Scan using task_open_responses/);
    },
  );
});
