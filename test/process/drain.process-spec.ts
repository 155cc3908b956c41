import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { type Answer, postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  statusOf,
} from '../support/process.js';
import { until } from '../support/until.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** Short, so that calls are aborted soon. */
const ABORTING = { DRAIN_TIMEOUT_MS: '300' };

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

/** A gateway with one running call, which is held and whose provider has answered its part. */
async function inFlight(
  input: string,
  settings: NodeJS.ProcessEnv = {},
  signal: AbortSignal | null = null,
): Promise<{ gateway: GatewayProgram; accountId: string; call: Promise<Response> }> {
  const gateway = await startGatewayProgram({ DATABASE_URL: database.url, ...settings });
  const { accountId, headers } = await gateway.account();
  const call = fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    signal,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ ...HELLO, input }),
  });
  // The code that awaits it later gets the error.
  call.catch(() => undefined);
  await until(async () => {
    const account = (await gateway.admin('GET', `/accounts/${accountId}`)).json;
    return (account as { held_microusd: string }).held_microusd !== '0';
  });
  return { gateway, accountId, call };
}

/** As stock clients do, it tries again if a kept connection was closed in the moment in which it was used. */
const refusedBy = ({ url }: GatewayProgram): Promise<Answer> => {
  const ask = () => postJson(`${url}/v1/audio/speech`, {}, HELLO);
  return ask().catch(ask);
};

const executionOf = async (accountId: string): Promise<unknown> =>
  (
    await database.dataSource.query<unknown[]>(
      `SELECT status, error_code FROM execution WHERE account_id = (replace($1, 'acct_', ''))::uuid`,
      [accountId],
    )
  )[0];

describe('SIGTERM', () => {
  it(
    'lets a call in flight finish with its whole body, turns others away and ends with 0',
    async () => {
      const { gateway, accountId, call } = await inFlight('[[sandbox:delay=15000]]Hello there.');
      const exited = gateway.end('SIGTERM');
      await until(async () => (await statusOf(`${gateway.url}/health/ready`)) === 503);
      const refused = await refusedBy(gateway);
      expect(refused.status).toBe(503);
      expect(refused.json).toMatchObject({ error: { code: 'service_unavailable' } });
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(await statusOf(`${gateway.url}/health/live`)).toBe(200);
      const answer = await call;
      expect(answer.status).toBe(200);
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
      expect(await exited).toEqual({ code: 0, signal: null });
      expect(gateway.stdout()).toMatch(/"in_flight":1,"paid_calls":1,"msg":"still draining"/);
      expect(await executionOf(accountId)).toEqual({ status: 'succeeded', error_code: null });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'waits for a paid call whose client has left, and charges what the provider completes',
    async () => {
      const leave = new AbortController();
      const { gateway, accountId } = await inFlight(
        '[[sandbox:delay=3000]]Hello there.',
        {},
        leave.signal,
      );
      leave.abort();
      expect(await gateway.end('SIGTERM')).toEqual({ code: 0, signal: null });
      expect(await executionOf(accountId)).toEqual({ status: 'succeeded', error_code: null });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'aborts a call without an answer after DRAIN_TIMEOUT_MS: 503, hold released, exit 0',
    async () => {
      const { gateway, accountId, call } = await inFlight('[[sandbox:hang]]', ABORTING);
      const exited = gateway.end('SIGTERM');
      const answer = await call;
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ error: { code: 'service_unavailable' } });
      expect(await exited).toEqual({ code: 0, signal: null });
      await provesAborted(accountId);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'cuts a call in the middle of its body after DRAIN_TIMEOUT_MS: no clean end, hold released, exit 0',
    async () => {
      const { gateway, accountId, call } = await inFlight('[[sandbox:hang-body]]Hello', ABORTING);
      const answer = await call;
      expect(answer.status).toBe(200);
      const exited = gateway.end('SIGTERM');
      await expect(answer.arrayBuffer()).rejects.toThrow();
      expect(await exited).toEqual({ code: 0, signal: null });
      await provesAborted(accountId);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

async function provesAborted(accountId: string): Promise<void> {
  expect(await executionOf(accountId)).toEqual({ status: 'failed', error_code: 'shutdown' });
  expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true, heldMicroUsd: 0n });
}
