import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { leaseFor } from '../../src/billing/recovery/process-lease.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.js';
import { postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
} from '../support/process.js';
import { until } from '../support/until.js';
import { MP3_HEAD, servedBy } from '../support/stub-speech.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const HOLD_SWEEP_MS = 1_000;
const { leaseMs } = leaseFor(HOLD_SWEEP_MS);
const WORKERS = 2;
const CALLS = 8;
const PRICE = 600n;
const CREDIT = 1_000_000n;

let database: TestDatabase;
let proxy: DatabaseProxy;
let provider: StubUpstream;
let gateway: GatewayProgram;
/** Calls that the provider has not answered yet. */
const waiting: ServerResponse[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startDatabaseProxy(database.url);
  provider = await StubUpstream.start();
  provider.reply = (response) => {
    waiting.push(response);
  };
  gateway = await startGatewayProgram({
    ...servedBy(provider),
    DATABASE_URL: proxy.through(database.url),
    WORKERS: String(WORKERS),
    HOLD_SWEEP_MS: String(HOLD_SWEEP_MS),
  });
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await provider.stop();
  await proxy.stop();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

/** The number of processes that have calls under way. */
async function busyProcesses(): Promise<number> {
  const [row] = await database.dataSource.query<{ count: string }[]>(
    `SELECT count(DISTINCT process_id) FROM execution WHERE status = 'running'`,
  );
  return Number(row?.count);
}

describe('a database that is away for longer than a lease', () => {
  it(
    'costs no call of two processes: all succeed when the provider answers after it, all are charged',
    async () => {
      const { accountId, headers } = await gateway.account(CREDIT);
      const calls: Promise<{ status: number }>[] = [];
      // A connection of its own per call, so that both processes get some.
      const call = () =>
        postJson(
          `${gateway.url}/v1/audio/speech`,
          { ...headers, connection: 'close' },
          { ...HELLO },
        );
      while (calls.length < CALLS || (await busyProcesses()) < WORKERS) {
        calls.push(call());
        await until(() => waiting.length === calls.length);
      }

      await proxy.cut();
      await sleep(2 * leaseMs);
      await proxy.mend();
      // By now the first process that came back has held its lease for long enough to judge the other.
      await sleep(2 * leaseMs);
      for (const response of waiting) response.end(MP3_HEAD);

      const answers = await Promise.all(calls);
      expect(answers.map(({ status }) => status)).toEqual(calls.map(() => 200));
      const rows = await database.dataSource.query<Record<string, unknown>[]>(
        `SELECT status, error_code, count(*)::int AS calls FROM execution GROUP BY status, error_code`,
      );
      expect(rows).toEqual([{ status: 'succeeded', error_code: null, calls: calls.length }]);
      const account = (await gateway.admin('GET', `/accounts/${accountId}`)).json;
      expect(account).toMatchObject({
        held_microusd: '0',
        available_microusd: String(CREDIT - PRICE * BigInt(calls.length)),
      });
      expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true, discrepancies: [] });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
