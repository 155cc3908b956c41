import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { DubbingHarness } from '../../support/dubbing-harness.js';
import { postJson } from '../../support/http-answer.js';
import { taskEndpoints } from '../../support/task-endpoints.js';

const CALLS = 500;
/** The sandbox never ends these by itself. */
const NEVER = '[[sandbox:task-ms=3600000]]';

let harness: DubbingHarness;
beforeAll(async () => {
  harness = await DubbingHarness.open();
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());

const ENDPOINTS = taskEndpoints(() => harness, NEVER);

/** Three keys of the account, as headers of a call. */
async function callers(idempotencyKey: string): Promise<Record<string, string>[]> {
  const { accountId, key } = harness.account;
  const others = [harness.gateway.keyOf(accountId), harness.gateway.keyOf(accountId)];
  return [key, ...(await Promise.all(others))].map((own) => ({
    authorization: `Bearer ${own}`,
    'idempotency-key': idempotencyKey,
  }));
}

const jobs = async (): Promise<number> =>
  ((await harness.gateway.sandbox?.jobs(1_000)) ?? []).length;

function tasks(): Promise<{ status: string }[]> {
  return harness.gateway.dataSource.query<{ status: string }[]>(
    `SELECT status FROM task WHERE account_id = $1`,
    [harness.account.accountId],
  );
}

/** Waits until the account's one task has been sent to the provider. */
async function submitted(): Promise<void> {
  while ((await tasks())[0]?.status === 'queued') await sleep(20);
  expect(await tasks()).toHaveLength(1);
}

describe.each(ENDPOINTS)('one Idempotency-Key on $path', (endpoint) => {
  const post = (headers: Record<string, string>, body: object) =>
    postJson(harness.gateway.url + endpoint.path, headers, body);

  it('makes one task, one hold, one download and one job of 500 calls at once from three API keys (IDEM-08)', async () => {
    const headers = await callers('five hundred');
    const body = endpoint.body();
    const before = await jobs();
    const answers = await Promise.all(
      Array.from({ length: CALLS }, (_, call) => post(headers[call % 3] ?? {}, body)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([endpoint.status]));
    const ids = answers.map(({ json }) => (json as { id: string }).id);
    expect(new Set(ids).size).toBe(1);
    expect(harness.host.seen).toHaveLength(endpoint.downloads);
    await submitted();
    expect((await jobs()) - before).toBe(1);
    const { held } = await harness.gateway.balance(harness.account.accountId);
    expect(held).toBe(endpoint.priceMicroUsd);
  });

  it('whose first process died before its task was written goes to the next call', async () => {
    const [headers = {}] = await callers('died');
    const body = endpoint.body();
    // What a process leaves when it dies between the claim and the task, after its lease.
    await harness.gateway.dataSource.query(
      `INSERT INTO idempotency_key (account_id, endpoint, key, fingerprint, token, lease_until)
       VALUES ($1, $2, 'died', '\\x00', gen_random_uuid(), now() - interval '1 second')`,
      [harness.account.accountId, endpoint.path],
    );
    const first = await post(headers, body);
    const second = await post(headers, body);
    expect([first.status, second.status]).toEqual([endpoint.status, endpoint.status]);
    expect((first.json as { id: string }).id).toBe((second.json as { id: string }).id);
    await submitted();
  });
});
