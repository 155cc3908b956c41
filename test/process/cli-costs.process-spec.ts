import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { toPublicId } from '../../src/common/ids/public-id.js';
import { cleanUp, PROCESS_TEST_TIMEOUT_MS, runBuilt } from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { fundedAccount, ledgerOf, startOf, successOf } from '../support/test-ledger.js';

const folder = mkdtempSync(join(tmpdir(), 'shim-bills-'));
let database: TestDatabase;
/** Public ids of two calls that cost 5 and 7 micro-USD; a third has no known cost. */
const calls: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const { dataSource } = database;
  const { executions, process } = ledgerOf(dataSource);
  await process.heartbeat();
  const accountId = await fundedAccount(dataSource, 100n);
  for (const [index, costMicroUsd] of [5n, 7n, null].entries()) {
    const start = startOf(accountId, 10n);
    await executions.begin(start);
    const success = { ...successOf(6n), provider: 'vendor', providerRequestId: `req_${index}` };
    await executions.succeed(start, { ...success, costMicroUsd });
    calls.push(toPublicId('exec', start.executionId));
  }
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await database.drop();
  await cleanUp();
}, PROCESS_TEST_TIMEOUT_MS);

async function cli(...args: string[]) {
  const program = runBuilt('cli.js', args, { DATABASE_URL: database.url });
  const { code } = await program.exited;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}

async function answerOf(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await cli(...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe('the commands about costs', () => {
  it(
    'sum up what was sold, cost and left, as JSON and CSV',
    async () => {
      expect(await answerOf('margin', '--group-by', 'provider')).toMatchObject({
        data: [
          {
            provider: 'vendor',
            calls: 3,
            charged_microusd: '18',
            cost_microusd: '12',
            margin_microusd: null,
            cost_known_calls: 2,
            sold_below_cost: 1,
          },
        ],
      });
      const { stdout } = await cli('margin', '--csv');
      expect(stdout).toContain('aud-v4,3,0,2,18,0,12,,,1');
      const usage = await answerOf('usage', '--group-by', 'upstream_model');
      expect(usage).toMatchObject({ data: [{ upstream_model: 'eleven_v3', cost_microusd: '12' }] });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    "compare a vendor's bill with them, and name its bad lines",
    async () => {
      const file = join(folder, 'bill.csv');
      writeFileSync(
        file,
        'request id,amount\nreq_0,0.000005\nreq_2,0.000001\nreq_9,0.5\nreq_8,?\n',
      );
      const path = relative(process.cwd(), file);
      const found = await answerOf('vendor:reconcile', path, '--provider', 'vendor');
      expect(found).toMatchObject({
        object: 'vendor_reconciliation',
        lines: 4,
        requests: 3,
        billed_usd: '0.500006',
        matched: { requests: 2, billed_usd: '0.000006', cost_microusd: '5' },
        differing: { requests: 1, shown: [{ line: 3, id: calls[2], cost_microusd: null }] },
        unknown_to_us: { requests: 1, shown: [{ request_id: 'req_9', line: 4 }] },
        unknown_to_them: { requests: 1, shown: [{ request_id: 'req_1', id: calls[1] }] },
        bad_lines: { count: 1, shown: ['line 5 has no amount in USD, such as 0.0012'] },
      });
      const refused = await cli('vendor:reconcile', path);
      expect(refused).toMatchObject({ code: 1, stderr: 'Name the provider: --provider ID.\n' });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
