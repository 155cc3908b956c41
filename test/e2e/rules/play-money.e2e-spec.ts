import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Accounts } from '../../../src/billing/accounts.js';
import { LedgerService } from '../../../src/billing/ledger.service.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { StubUpstream } from '../../support/stub-upstream.js';

const CHAT = { model: 'gen-5', messages: [{ role: 'user', content: 'Hi' }] };
const IMAGE = { model: 'gen-image-2', prompt: 'a cat' };
const REFUSAL = 'Play money buys sandbox work only; make an account with `account:create`.';

let upstream: StubUpstream;
let gateway: TestGateway;
let accountId: string;
let headers: { authorization: string };

/** A real provider for chat and images; the sandbox serves the rest. */
beforeAll(async () => {
  upstream = await StubUpstream.start();
  gateway = await startTestGateway({
    OPENAI_API_KEY: 'a-real-key',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
  });
  const ledger = gateway.app.get(LedgerService);
  accountId = (await gateway.app.get(Accounts).create('demo', 'play')).id;
  const credit = { accountId, amountMicroUsd: 1_000_000n, idempotencyKey: 'a', reference: null };
  await ledger.credit(credit);
  headers = { authorization: `Bearer ${await gateway.keyOf(accountId)}` };
});
afterAll(async () => {
  await gateway.provesClean();
  await gateway.stop();
  await upstream.stop();
});

describe('play money (G-95)', () => {
  it.each([
    ['/v1/chat/completions', CHAT],
    ['/v1/images/generations', IMAGE],
  ])('buys no real work at %s: 402 before any hold', async (path, body) => {
    const before = await gateway.balance(accountId);
    const answer = await postJson(gateway.url + path, headers, body);
    expect(answer.status).toBe(402);
    expect(errorOf(answer)).toMatchObject({
      code: 'insufficient_user_quota',
      type: 'insufficient_quota',
      message: REFUSAL,
    });
    expect(await gateway.balance(accountId)).toEqual(before);
    expect(upstream.seen).toEqual([]);
  });

  it('buys what the sandbox serves', async () => {
    const answer = await postJson(`${gateway.url}/v1/audio/speech`, headers, HELLO);
    expect(answer.status).toBe(200);
    expect((await gateway.balance(accountId)).available).toBe(999_400n);
  });

  it('does not restrict other accounts', async () => {
    upstream.reply = (response) => response.writeHead(400).end('{}');
    const { headers: real } = await gateway.account();
    const answer = await postJson(`${gateway.url}/v1/chat/completions`, real, CHAT);
    expect(errorOf(answer).code).toBe('provider_rejected_request');
  });
});
