import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount } from '../../../test/support/test-ledger.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';

const BOOK = { id: 'partners', version: 1, factorPermille: 900 };

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

interface Submitted {
  readonly outcome: string;
  readonly reserved: string | null;
  readonly bound_by: string | null;
}

async function submit(account: string, id: string, floor: number | null): Promise<Submitted> {
  const [row] = await database.dataSource.query<[Submitted]>(
    `SELECT outcome, reserved, bound_by FROM task_submit_v2($1, $2, NULL, 'response', 'text', 'gen', NULL, '', '{}', 'openai',
       '', true, 'm', 'run/openai', 900, NULL, NULL, NULL, NULL, NULL, '/v1/responses', NULL, NULL, false, $3, $4, $5, 7,
       $6, 10)`,
    [account, id, floor === null ? null : 'run', floor === null ? null : 500, BOOK, floor],
  );
  return row;
}

/** All that a submission writes. */
const stateOf = (account: string): Promise<unknown> =>
  database.dataSource.query(
    `SELECT row_to_json(a) AS account,
            (SELECT json_agg(t) FROM task t WHERE t.account_id = a.id) AS tasks,
            (SELECT json_agg(w) FROM task_work w WHERE w.account_id = a.id) AS work,
            (SELECT json_agg(r) FROM run r WHERE r.account_id = a.id) AS runs
       FROM account a WHERE id = $1`,
    [account],
  );

describe('a submission that is repeated', () => {
  it.each([
    ['the whole amount', null],
    ['what fits', 90],
  ])(
    'changes nothing of a task that holds %s and has gone to another route, and answers the same',
    async (_what, floor) => {
      const account = await fundedAccount(database.dataSource, 10_000n);
      const id = uuidV7(Date.now());
      const first = await submit(account, id, floor);
      expect(first).toMatchObject({ outcome: 'created', bound_by: floor && 'run' });
      await database.dataSource.query(
        `UPDATE task SET provider = 'other', upstream_model = 'n', route_cost = NULL WHERE id = $1`,
        [id],
      );
      const before = await stateOf(account);
      expect(await submit(account, id, floor)).toEqual(first);
      expect(await stateOf(account)).toEqual(before);
    },
  );
});
