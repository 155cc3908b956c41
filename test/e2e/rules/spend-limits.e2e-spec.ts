import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';

/** The price of a spoken `Hello`. */
const PRICE = 600n;
const GIVE_UP_MS = 60_000;
const SONG = { model: 'tune-music', prompt: 'a song', lyrics: 'la la la' };

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ TASK_TICK_MS: '50', TASK_POLL_INTERVAL_MS: '50' });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const speak = (key: string, input: string = HELLO.input) =>
  postJson(
    `${gateway.url}/v1/audio/speech`,
    { authorization: `Bearer ${key}` },
    { ...HELLO, input },
  );
const limited = async (amount: bigint, period: 'day' | 'month' | 'total' = 'total') => {
  const account = await gateway.account();
  const terms = { spendLimitMicroUsd: amount, spendLimitPeriod: period };
  return { ...account, key: await gateway.keyOf(account.accountId, terms) };
};
const countOf = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status).length;
const patchKey = async (accountId: string, body: object) => {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const path = `${gateway.url}/admin/accounts/${toPublicId('acct', accountId)}/keys`;
  const { data } = (await send(path, { headers })).json as { data: { id: string }[] };
  const answer = await send(`${gateway.url}/admin/keys/${data.at(-1)?.id ?? ''}`, {
    method: 'PATCH',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
};
const until = async (holds: () => Promise<boolean>) => {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  while (!(await holds())) {
    expect(performance.now()).toBeLessThan(giveUpAt);
    await sleep(50);
  }
};

describe('a key with a spend limit (G-99)', () => {
  it('lets exactly ten of 200 calls at once through where ten fit (G-99)', async () => {
    const { key, accountId } = await limited(PRICE * 10n + PRICE / 2n);
    const answers = await Promise.all(Array.from({ length: 200 }, () => speak(key)));
    expect([countOf(answers, 200), countOf(answers, 402)]).toEqual([10, 190]);
    const { available, held } = await gateway.balance(accountId);
    expect({ available, held }).toEqual({ available: 1_000_000_000n - PRICE * 10n, held: 0n });
  });

  it('is refused with the limit, its period and the end of it, in the code of the surface (G-99)', async () => {
    const { key } = await limited(PRICE - 1n, 'month');
    let refused = await speak(key);
    // While the process learns of the new key, the limit may be about to change, and is not told.
    await until(async () => !errorOf((refused = await speak(key))).message.endsWith('may spend.'));
    expect(refused.status).toBe(402);
    expect(errorOf(refused)).toMatchObject({
      code: 'insufficient_funds',
      type: 'insufficient_quota',
      param: 'spend_limit',
      message: expect.stringMatching(
        /may cost 600 micro-USD, and 599 micro-USD are available\. This key may spend 599 micro-USD per month, .* The month ends at \d{4}-\d\d-01T00:00:00\.000Z\.$/,
      ),
    });
    const image = { model: 'gen-image-2', prompt: 'a cat' };
    const general = await postJson(
      `${gateway.url}/v1/images/generations`,
      { authorization: `Bearer ${key}` },
      image,
    );
    expect(errorOf(general).code).toBe('insufficient_user_quota');
  });

  it('does not count what failed, and counts what is held while it runs', async () => {
    const { key, accountId } = await limited(120n * 100n);
    expect((await speak(key, '[[sandbox:status=400]]')).status).toBe(400);
    const slow = speak(key, '[[sandbox:delay=3000]]'.padEnd(60, '!'));
    await until(async () => (await gateway.balance(accountId)).held > 0n);
    expect((await speak(key, 'H'.repeat(41))).status).toBe(402);
    expect((await slow).status).toBe(200);
    expect((await speak(key, 'H'.repeat(40))).status).toBe(200);
    expect((await speak(key, 'H')).status).toBe(402);
  });

  it('does not limit other keys of the account', async () => {
    const { key, accountId } = await limited(0n);
    expect((await speak(key)).status).toBe(402);
    expect((await speak(await gateway.keyOf(accountId))).status).toBe(200);
  });

  it('counts tasks by what they hold, and nothing of those that fail', async () => {
    const { key, accountId } = await limited(150_000n);
    const submit = (body: object) =>
      postJson(`${gateway.url}/v1/music/generations`, { authorization: `Bearer ${key}` }, body);
    const answers = await Promise.all(Array.from({ length: 8 }, () => submit(SONG)));
    const accepted = countOf(answers, 202);
    const price = await heldOrCharged(accountId);
    expect(BigInt(accepted)).toBe(150_000n / (price / BigInt(accepted)));
    expect(countOf(answers, 402)).toBe(8 - accepted);
    await until(async () => (await gateway.balance(accountId)).held === 0n);
    expect((await submit(SONG)).status).toBe(402);
  });

  const heldOrCharged = async (accountId: string) =>
    1_000_000_000n - (await gateway.balance(accountId)).available;

  it('set later counts what was spent before, at once and after the counter has begun', async () => {
    const { key, accountId } = await gateway.account();
    for (let index = 0; index < 3; index++) expect((await speak(key)).status).toBe(200);
    await patchKey(accountId, {
      spend_limit_microusd: (PRICE * 5n).toString(),
      spend_limit_period: 'day',
    });
    await sleep(2_000);
    expect((await speak(key)).status).toBe(200);
    await sleep(1_500);
    expect((await speak(key)).status).toBe(200);
    expect((await speak(key)).status).toBe(402);
    await patchKey(accountId, { spend_limit_microusd: (PRICE * 6n).toString() });
    await sleep(2_000);
    expect((await speak(key)).status).toBe(200);
    expect((await speak(key)).status).toBe(402);
    await patchKey(accountId, { spend_limit_microusd: null });
    await sleep(2_000);
    expect((await speak(key)).status).toBe(200);
  });

  it('begins anew with each day', async () => {
    const { key, accountId } = await limited(PRICE, 'day');
    expect((await speak(key)).status).toBe(200);
    expect((await speak(key)).status).toBe(402);
    await gateway.dataSource.query(
      `UPDATE key_spend SET period_start = period_start - interval '1 day' WHERE account_id = $1`,
      [accountId],
    );
    expect((await speak(key)).status).toBe(200);
    expect((await speak(key)).status).toBe(402);
  });
});
