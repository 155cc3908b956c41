import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromPublicId } from '../../../src/common/ids/public-id.js';
import { DubbingHarness } from '../../support/dubbing-harness.js';
import type { TestAccount } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { taskEndpoints } from '../../support/task-endpoints.js';

const AT_ONCE = '[[sandbox:task-ms=0]]';

let harness: DubbingHarness;
beforeAll(async () => {
  harness = await DubbingHarness.open();
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());

const ENDPOINTS = taskEndpoints(() => harness, AT_ONCE);

function post(
  path: string,
  body: object | string,
  key: string | undefined,
  who: TestAccount = harness.account,
): Promise<Answer> {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return postJson(harness.gateway.url + path, { ...who.headers, ...headers }, body);
}

async function made(...call: Parameters<typeof post>): Promise<string> {
  const answer = await post(...call);
  const isMade = answer.status === (call[0] === '/v1/videos' ? 200 : 202);
  expect(isMade ? '' : answer.bytes.toString()).toBe('');
  return (answer.json as { id: string }).id;
}

const jobs = async (): Promise<number> =>
  ((await harness.gateway.sandbox?.jobs(1_000)) ?? []).length;
const entriesOf = async ({ accountId }: TestAccount): Promise<number> =>
  (await harness.gateway.balance(accountId)).entries;

/** The task once it is done and its hold is settled. */
async function done(id: string): Promise<void> {
  const sql = `SELECT status FROM task WHERE id = $1`;
  for (;;) {
    const rows = await harness.gateway.dataSource.query(sql, [fromPublicId('task', id)]);
    const [{ status } = { status: 'gone' }] = rows as { status: string }[];
    if (status === 'succeeded') return;
    expect(['queued', 'processing']).toContain(status);
    await sleep(20);
  }
}

describe.each(ENDPOINTS)('an Idempotency-Key on $path', ({ path, body, ...endpoint }) => {
  it('answers the same task again, in its present state, and pays, downloads and submits once (IDEM-01, IDEM-03)', async () => {
    const before = await jobs();
    const id = await made(path, body(), 'again');
    expect(await made(path, body(), 'again')).toBe(id);
    await done(id);
    const replay = await post(path, body(), 'again');
    expect(replay.json).toMatchObject({ id });
    expect((replay.json as { status: string }).status).toMatch(/^(succeeded|completed)$/);
    expect(replay.headers.get('x-gateway-task-id')).toBe(id);
    expect(harness.host.seen).toHaveLength(endpoint.downloads);
    expect((await jobs()) - before).toBe(1);
    // The credit and one charge.
    expect(await entriesOf(harness.account)).toBe(2);
  });

  it('is rejected with another body, and the first task continues unchanged (IDEM-02)', async () => {
    const id = await made(path, body(), 'other body');
    const answer = await post(path, { ...body(), ...endpoint.other }, 'other body');
    expect([answer.status, errorOf(answer)]).toMatchObject([
      409,
      { code: 'idempotency_conflict', param: 'Idempotency-Key' },
    ]);
    await done(id);
    expect(await entriesOf(harness.account)).toBe(2);
  });

  it('does not mind the order of keys or white space (IDEM-11)', async () => {
    const id = await made(path, body(), 'order');
    const reversed = Object.fromEntries(Object.entries(body()).reverse());
    expect(await made(path, JSON.stringify(reversed, null, 3), 'order')).toBe(id);
  });

  it('makes another task under another key, without one, and for another account (IDEM-06, IDEM-07, IDEM-09)', async () => {
    const other = await harness.gateway.account();
    const ids = [
      await made(path, body(), 'mine'),
      await made(path, body(), 'second'),
      await made(path, body(), undefined),
      await made(path, body(), undefined),
      await made(path, body(), 'mine', other),
    ];
    expect(new Set(ids).size).toBe(5);
    for (const id of ids.slice(0, 4)) await done(id);
    expect(await entriesOf(harness.account)).toBe(5);
  });

  it('answers its task although the balance is gone by now (IDEM-13)', async () => {
    await harness.clear(endpoint.priceMicroUsd);
    const id = await made(path, body(), 'spent');
    expect((await harness.gateway.balance(harness.account.accountId)).available).toBe(0n);
    expect(await made(path, body(), 'spent')).toBe(id);
    expect((await post(path, body(), 'new')).status).toBe(402);
  });
});

describe('one Idempotency-Key', () => {
  it('on all three endpoints makes three tasks (IDEM-10)', async () => {
    const ids: string[] = [];
    for (const { path, body } of ENDPOINTS) ids.push(await made(path, body(), 'shared'));
    expect(new Set(ids).size).toBe(3);
    const list = await send(`${harness.gateway.url}/v1/tasks`, {
      headers: harness.account.headers,
    });
    expect((list.json as { data: unknown[] }).data).toHaveLength(3);
  });

  it('answers its video to the form of an SDK although the balance is gone by now (IDEM-13)', async () => {
    const video = ENDPOINTS.find(({ path }) => path === '/v1/videos')!;
    await harness.clear(video.priceMicroUsd);
    const id = await made(video.path, video.body(), 'spent by a form');
    const sendForm = (key: Record<string, string>) => {
      const body = new FormData();
      for (const [name, value] of Object.entries(video.body())) body.set(name, value);
      const headers = { ...harness.account.headers, ...key };
      return send(harness.gateway.url + video.path, { method: 'POST', headers, body });
    };
    const replay = await sendForm({ 'idempotency-key': 'spent by a form' });
    expect([replay.status, replay.json]).toMatchObject([200, { id }]);
    expect((await sendForm({})).status).toBe(402);
  });
});
