import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DAY_MS } from '../../../src/common/time/spans.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { foldUsage } from '../../support/usage-desk.js';
import { until } from '../../support/until.js';

/** What HELLO costs. */
const PRICE = 600n;
const CHAT = { model: 'gen-5-mini', messages: [{ role: 'user', content: 'Hello' }] };
const VIDEO = { model: 'vid-motion', prompt: 'rain', seconds: '5' };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ TOPUP_URL: 'https://shop.example/top-up/{account}' });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const pageOf = ({ accountId }: TestAccount) =>
  `https://shop.example/top-up/acct_${accountId.replaceAll('-', '')}`;
const read = async (path: string, { headers }: TestAccount) =>
  (await send(gateway.url + path, { headers })).json as Record<string, unknown>;

describe('TOPUP_URL', () => {
  it('is a field and the end of the message of each 402 for want of balance', async () => {
    const poor = await gateway.account(1n);
    for (const [path, body] of [
      ['/v1/audio/speech', HELLO],
      ['/v1/chat/completions', CHAT],
      ['/v1/responses', { model: CHAT.model, input: 'Hello' }],
      ['/v1/messages', { ...CHAT, max_tokens: 100 }],
      ['/v1/videos', VIDEO],
    ] as const) {
      const answer = await postJson(gateway.url + path, poor.headers, body);
      expect([path, answer.status]).toEqual([path, 402]);
      const error = errorOf(answer);
      expect(error).toMatchObject({ topup_url: pageOf(poor) });
      expect(error.message).toMatch(new RegExp(`Add to it at ${pageOf(poor)}$`));
    }
    const quote = { path: '/v1/audio/speech', body: HELLO };
    const quoted = await postJson(`${gateway.url}/v1/quotes`, poor.headers, quote);
    expect(quoted.json).toMatchObject({ fits: false, error: { topup_url: pageOf(poor) } });
  });

  it('is not named where the limit of a key is the reason', async () => {
    const { accountId } = await gateway.account();
    const key = await gateway.keyOf(accountId, {
      spendLimitMicroUsd: 10n,
      spendLimitPeriod: 'total',
    });
    const headers = { authorization: `Bearer ${key}` };
    const answer = await postJson(`${gateway.url}/v1/audio/speech`, headers, HELLO);
    expect(answer.status).toBe(402);
    expect(errorOf(answer)).not.toHaveProperty('topup_url');
  });

  it('is told by GET /v1/account, with the burn and the day on which the money is spent', async () => {
    const account = await gateway.account(PRICE * 4n);
    await postJson(`${gateway.url}/v1/audio/speech`, account.headers, HELLO);
    let told = await read('/v1/account', account);
    await until(async () => {
      await foldUsage(gateway);
      told = await read('/v1/account', account);
      return told.burn_microusd_per_day === PRICE.toString();
    });
    // Three days of 600 are left of an account that was made today.
    const day = new Date(Date.now() + 3 * DAY_MS).toISOString().slice(0, 10);
    expect(told).toMatchObject({ topup_url: pageOf(account), runs_out_on: day });
  });
});

describe('GET /v1/holds', () => {
  it('lists what the own calls and tasks hold, and nothing of others', async () => {
    const [own, other] = [await gateway.account(), await gateway.account()];
    const slow = { ...HELLO, input: '[[sandbox:delay=10000]]Hello' };
    const calls = [own, other].map(({ headers }) =>
      postJson(`${gateway.url}/v1/audio/speech`, headers, slow),
    );
    const holds = async (query = '') =>
      (await read(`/v1/holds${query}`, own)) as { data: Record<string, unknown>[] };
    await until(async () => (await holds()).data.length === 1);
    const { data } = await holds();
    const { held_microusd: held } = await read('/v1/account', own);
    expect(data).toEqual([
      {
        id: expect.stringMatching(/^exec_/),
        object: 'hold',
        holder: 'execution',
        account_id: `acct_${own.accountId.replaceAll('-', '')}`,
        api_key_id: expect.stringMatching(/^key_/),
        model: 'aud-v4',
        status: 'running',
        run: null,
        amount_microusd: held,
        age_seconds: expect.any(Number),
        created_at: expect.any(Number),
      },
    ]);
    expect((await holds('?holder=task')).data).toEqual([]);
    const foreign = await send(`${gateway.url}/v1/holds?account_id=x`, { headers: own.headers });
    expect(errorOf(foreign)).toMatchObject({ code: 'invalid_request', param: 'account_id' });
    await Promise.all(calls);
    await until(async () => (await holds()).data.length === 0);
  });
});
