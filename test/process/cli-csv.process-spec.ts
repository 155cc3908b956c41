import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../src/common/ids/public-id.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  SECRET_KEY,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { accountsOf } from '../support/test-ledger.js';

/** More than a page of the ledger, and more than a statement lists of a kind. */
const ENTRIES = 2_500;
const MONTH = '2026-01';

let database: TestDatabase;
let gateway: GatewayProgram;
let settings: NodeJS.ProcessEnv;
let account: string;

beforeAll(async () => {
  database = await createTestDatabase();
  settings = { DATABASE_URL: database.url, DATA_DIR: await temporaryFolder(), SECRET_KEY };
  const { id } = await accountsOf(database.dataSource).create('busy');
  account = toPublicId('acct', id);
  await database.dataSource.query(
    `INSERT INTO ledger_entry (account_id, kind, amount, balance_after, reference, reason, created_at)
       SELECT $1, 'correction', 2, 2 * n, 'a note: ä', 'goodwill', timestamptz '${MONTH}-02Z' + n * interval '1 second'
         FROM generate_series(1, $2::int) n`,
    [id, ENTRIES],
  );
  gateway = await startGatewayProgram(settings);
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

async function csv(...args: string[]): Promise<string> {
  const program = runBuilt('cli.js', [...args, '--csv'], settings);
  const { code } = await program.exited;
  expect({ code, stderr: program.stderr() }).toEqual({ code: 0, stderr: '' });
  return program.stdout();
}

describe('CSV on the command line', () => {
  it(
    'has every entry of a statement and of the ledger, as over HTTP, with a gateway and without one',
    async () => {
      const api = async (path: string) =>
        (await gateway.admin('GET', `${path}?format=csv`)).bytes.toString();
      const statement = await api(`/accounts/${account}/statements/${MONTH}`);
      const ledger = await api(`/accounts/${account}/ledger`);
      expect(statement.split('\r\n')).toHaveLength(ENTRIES + 4);
      expect(ledger.split('\r\n')).toHaveLength(ENTRIES + 1);

      const commands = [
        { args: ['statement', account, MONTH], text: `${statement}\n` },
        { args: ['ledger', account], text: `${ledger}\n` },
        { args: ['ledger'], text: `${ledger}\n` },
        { args: ['ledger', account, '--all'], text: `${ledger}\n` },
      ];
      for (const { args, text } of commands) expect((await csv(...args)) === text).toBe(true);
      await gateway.end('SIGTERM');
      for (const { args, text } of commands.slice(0, 2)) {
        expect((await csv(...args)) === text).toBe(true);
      }
    },
    PROCESS_TEST_TIMEOUT_MS * 3,
  );
});
