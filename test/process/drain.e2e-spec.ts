import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditLedger } from '../../src/billing/audit.js';
import { postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  statusOf,
  until,
} from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

/** A gateway with one call in flight, and a second connection that was idle when the signal came. */
async function inFlight(
  input: string,
  settings: NodeJS.ProcessEnv = {},
): Promise<{ gateway: GatewayProgram; accountId: string; call: ReturnType<typeof postJson> }> {
  const gateway = await startGatewayProgram({ DATABASE_URL: database.url, ...settings });
  const { accountId, headers } = await gateway.account();
  const call = postJson(`${gateway.url}/v1/audio/speech`, headers, { ...HELLO, input });
  // Whoever awaits it later sees the error.
  call.catch(() => undefined);
  await until(async () => {
    const account = (await gateway.admin('GET', `/accounts/${accountId}`)).json;
    return (account as { held_microusd: string }).held_microusd !== '0';
  });
  return { gateway, accountId, call };
}

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
      const { gateway, accountId, call } = await inFlight('[[sandbox:delay=3000]]Hello there.');
      const exited = gateway.end('SIGTERM');
      await until(async () => (await statusOf(`${gateway.url}/health/ready`)) === 503);
      const refused = await postJson(`${gateway.url}/v1/audio/speech`, {}, HELLO);
      expect(refused.status).toBe(503);
      expect(refused.json).toMatchObject({ error: { code: 'service_unavailable' } });
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(await statusOf(`${gateway.url}/health/live`)).toBe(200);
      const answer = await call;
      expect(answer.status).toBe(200);
      expect(answer.bytes.length).toBeGreaterThan(1_000);
      expect(await exited).toEqual({ code: 0, signal: null });
      expect(await executionOf(accountId)).toEqual({ status: 'succeeded', error_code: null });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it.each([
    ['without an answer', '[[sandbox:hang]]', 503],
    ['in the middle of its body', '[[sandbox:hang-body]]Hello', undefined],
  ])(
    'aborts a call %s after DRAIN_TIMEOUT_MS: hold released, recorded as shutdown, exit 0',
    async (_title, input, status) => {
      const { gateway, accountId, call } = await inFlight(input, { DRAIN_TIMEOUT_MS: '300' });
      const exited = gateway.end('SIGTERM');
      // Undefined is a connection that was cut, never a body with a clean end.
      expect(
        await call.then(
          ({ status: got }) => got,
          () => undefined,
        ),
      ).toBe(status);
      expect(await exited).toEqual({ code: 0, signal: null });
      expect(await executionOf(accountId)).toEqual({ status: 'failed', error_code: 'shutdown' });
      expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true, heldMicroUsd: 0n });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
