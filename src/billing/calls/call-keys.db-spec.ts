import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { FAILURE, fundedAccount, startOf, successOf } from '../../../test/support/test-ledger.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { auditLedger } from '../audit/audit.js';
import { ReversalRepository } from '../recovery/reversal.repository.js';
import type { ExecutionCommand } from './execution-commands.js';
import { ExecutionRepository } from './execution.repository.js';

const RUNS = 60;
const STEPS = 40;
const REQUESTS = 6;
const PROCESS_ID = randomUUID();
const PRICE = 10n;
const CREDIT = 1_000n;
const ENDPOINT = '/v1/chat/completions';
const OWN = 'account_id = $1 AND endpoint = $2 AND key = $3 AND execution_id = $4';

/**
 * A request with the key: how far its process has come. It may stop anywhere, as a process that is killed, and may go on much later,
 * as one that was stopped for a while.
 */
interface KeyRequest {
  readonly id: string;
  readonly body: 'one' | 'other';
  state: 'idle' | 'claimed' | 'held' | 'charged' | 'failed' | 'refused' | 'over';
}

const step = fc.record({
  request: fc.integer({ min: 0, max: REQUESTS - 1 }),
  act: fc.constantFrom('go', 'go', 'go', 'fail', 'lapse', 'sweep'),
});

describe('a key of calls', () => {
  let database: TestDatabase;
  let calls: ExecutionRepository;
  let cancellations: ReversalRepository;
  beforeAll(async () => {
    database = await createTestDatabase();
    calls = new ExecutionRepository(database.dataSource);
    cancellations = new ReversalRepository(database.dataSource);
  });
  afterAll(() => database.drop());

  const query = <Row>(text: string, values: unknown[]) =>
    database.dataSource.query<Row[]>(text, values);
  const commit = async (command: ExecutionCommand) =>
    (await calls.commit(PROCESS_ID, [command], true))[0];

  async function claim(account: string, { id, body }: KeyRequest) {
    const values = [account, ENDPOINT, 'key', [Buffer.from(body)], id, 'gen-5', null, 60_000];
    const text = 'SELECT * FROM call_key_claim($1, $2, $3, $4, $5, $6, $7, $8)';
    const [row] = await query<{ outcome: string; execution: string | null }>(text, values);
    return row!;
  }

  const begin = (accountId: string, { id: executionId }: KeyRequest) =>
    commit({ kind: 'begin', accountId, start: { ...startOf(accountId, PRICE), executionId } });

  function end(accountId: string, { id: executionId }: KeyRequest, isCharged: boolean) {
    const ended = isCharged
      ? { ...successOf(PRICE), errorCode: null }
      : { ...successOf(0n), ...FAILURE, chargedMicroUsd: null };
    const own = { ...ended, providerFault: null, accountId, executionId };
    return commit({ kind: 'finish', accountId, end: own });
  }

  /** The next thing that the process of a request does. */
  async function goOn(account: string, request: KeyRequest): Promise<void> {
    if (request.state === 'idle') {
      const { outcome, execution } = await claim(account, request);
      if (outcome === 'claimed') request.state = 'claimed';
      if (outcome === 'bound') {
        request.state = 'over';
        const [bound] = await query<{ status: string }>(
          'SELECT status FROM execution WHERE account_id = $1 AND id = $2',
          [account, execution],
        );
        expect(bound?.status).toBe('succeeded');
      }
    } else if (request.state === 'claimed') {
      const result = await begin(account, request);
      const outcome = typeof result === 'object' ? result.outcome : result;
      request.state = outcome === 'held' ? 'held' : 'refused';
    } else if (request.state === 'held') {
      const outcome = await end(account, request, true);
      request.state = outcome === 'done' ? 'charged' : 'refused';
    }
  }

  async function fail(account: string, request: KeyRequest): Promise<void> {
    if (request.state !== 'held' && request.state !== 'refused') return;
    if (request.state === 'held') await end(account, request, false);
    request.state = 'failed';
    await query(`DELETE FROM call_key WHERE ${OWN}`, [account, ENDPOINT, 'key', request.id]);
  }

  async function doAct(account: string, request: KeyRequest, act: string): Promise<void> {
    if (act === 'go') await goOn(account, request);
    else if (act === 'fail') await fail(account, request);
    else if (act === 'lapse')
      await query(`UPDATE call_key SET lease_until = now() WHERE ${OWN}`, [
        ...[account, ENDPOINT, 'key', request.id],
      ]);
    else if (request.state === 'held')
      // The process seems dead: its hold is released.
      await cancellations.cancel({
        ...{ executionId: request.id, accountId: account, apiKeyId: null, model: 'gen-5' },
        ...{ endpoint: ENDPOINT, errorCode: 'service_unavailable' },
        ...{ provider: null, providerRequestId: null },
      });
  }

  it('leads to one charge at most, whatever processes die, stop for a while and go on (G-48)', async () => {
    let charged = 0;
    let freed = 0;
    const bodies = fc.array(fc.constantFrom('one' as const, 'one' as const, 'other' as const), {
      minLength: REQUESTS,
      maxLength: REQUESTS,
    });
    const histories = fc.array(step, { minLength: STEPS, maxLength: STEPS });
    await fc.assert(
      fc.asyncProperty(bodies, histories, async (asked, history) => {
        const account = await fundedAccount(database.dataSource, CREDIT);
        const requests = asked.map((body): KeyRequest => ({
          id: uuidV7(Date.now()),
          body,
          state: 'idle',
        }));
        for (const { request: index, act } of history) {
          await doAct(account, requests[index]!, act);
          const [entries] = await query<{ charges: number }>(
            `SELECT count(*)::int AS charges FROM ledger_entry WHERE account_id = $1 AND kind = 'charge'`,
            [account],
          );
          expect(entries?.charges).toBeLessThanOrEqual(1);
        }
        const paid = requests.filter(({ state }) => state === 'charged').length;
        charged += paid;
        freed += requests.some(({ state }) => state === 'failed') && paid > 0 ? 1 : 0;
        // Once all leases are over and nothing runs, the key is bound if it was charged, and free otherwise.
        await query('UPDATE call_key SET lease_until = now() WHERE account_id = $1', [account]);
        for (const request of requests) if (request.state === 'held') await fail(account, request);
        const last: KeyRequest = { id: uuidV7(Date.now()), body: 'one', state: 'idle' };
        const { outcome } = await claim(account, last);
        const body = requests.find(({ state }) => state === 'charged')?.body;
        const bound = body === 'other' ? 'conflict' : 'bound';
        expect(outcome).toBe(body === undefined ? 'claimed' : bound);
      }),
      { numRuns: RUNS },
    );
    expect(charged).toBeGreaterThan(RUNS / 4);
    expect(freed).toBeGreaterThan(0);
    const audit = await auditLedger(database.dataSource);
    expect(audit).toMatchObject({ ok: true, discrepancies: [] });
  });

  it('is claimed by one of many requests at once', async () => {
    const account = await fundedAccount(database.dataSource, CREDIT);
    const requests = Array.from({ length: 12 }, (): KeyRequest => ({
      id: uuidV7(Date.now()),
      body: 'one',
      state: 'idle',
    }));
    for (let round = 0; round < 5; round += 1) {
      const outcomes = await Promise.all(requests.map((request) => claim(account, request)));
      // Their leases end before they begin. Whoever takes the key over cancels the one before.
      await query('UPDATE call_key SET lease_until = now() WHERE account_id = $1', [account]);
      expect(outcomes.filter(({ outcome }) => outcome === 'claimed')).toHaveLength(1);
      const winner = outcomes.findIndex(({ outcome }) => outcome === 'claimed');
      const id = uuidV7(Date.now());
      expect(await claim(account, { id, body: 'one', state: 'idle' })).toMatchObject({
        outcome: 'claimed',
      });
      const late = await begin(account, requests[winner]!);
      expect(late).toMatchObject({ outcome: 'conflict' });
      requests.splice(winner, 1);
      await query('DELETE FROM call_key WHERE account_id = $1', [account]);
    }
  });
});
