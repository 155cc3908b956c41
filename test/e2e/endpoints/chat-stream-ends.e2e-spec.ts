import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { chunk, ChatUpstreamHarness, event } from '../../support/chat-upstream-harness.js';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { ADMIN_TOKEN, type TestAccount } from '../../support/gateway.js';
import { send } from '../../support/http-answer.js';

const CREDIT = 10_000_000n;
const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
/** 1,000 tokens at 1.25 and 100 at 10 micro-USD. */
const PRICE = 2_250n;
const stop = event(chunk('', { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
const report = event(chunk('', { choices: [], usage }));
/** More than the failures that close a route. */
const MANY = 12;

let harness: ChatUpstreamHarness;

beforeAll(async () => {
  harness = await ChatUpstreamHarness.start();
});
afterAll(() => harness.stop());

/** The stream of a provider that sends this, once its bytes have left. */
function sends(text: string, then: (response: ServerResponse) => unknown): void {
  harness.upstream.reply = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => setTimeout(then, 20, response));
  };
}
const closes = (response: ServerResponse) => response.end();
const resets = (response: ServerResponse) => response.socket?.resetAndDestroy();
const hangs = () => undefined;

async function spent({ accountId }: TestAccount): Promise<bigint> {
  const { available, held } = await harness.gateway.balance(accountId);
  expect(held).toBe(0n);
  return CREDIT - available;
}

describe('a stream whose last choice has its reason to end', () => {
  it.each([
    ['closes after the usage, without [DONE]', report, closes],
    ['is reset after the usage', report, resets],
    ['hangs after the usage', report, hangs],
    ['says [DONE] with a blank', `${report}data: [DONE] \n\n`, closes],
  ])('is whole and charged where the connection %s', async (_what, text, then) => {
    const account = await harness.gateway.account(CREDIT);
    sends(event(chunk('Hi')) + stop + text, then);
    const { data, text: heard } = await harness.read(account);
    expect([heard, data.at(-1)]).toEqual(['Hi', '[DONE]']);
    expect(await spent(account)).toBe(PRICE);
  });

  it.each([
    ['is reset', resets],
    ['hangs', hangs],
  ])('is counted where the connection then %s and no usage comes', async (_what, then) => {
    const account = await harness.gateway.account(CREDIT);
    sends(event(chunk('Hi')) + stop, then);
    expect((await harness.read(account)).data.at(-1)).toBe('[DONE]');
    const charge = await spent(account);
    expect(charge > 0n && charge < PRICE).toBe(true);
  });

  it('without [DONE], however often, closes no route', async () => {
    const accounts = await Promise.all([harness.gateway.account(), harness.gateway.account()]);
    sends(event(chunk('Hi')) + stop, closes);
    for (let call = 0; call < MANY; call++) {
      expect((await harness.read(accounts[call % 2]!)).data.at(-1)).toBe('[DONE]');
    }
  });
});

it.each([
  ['closes', closes],
  ['is reset', resets],
])(
  'a stream without reason and [DONE] that %s is cut and free (CHAT-25, G-24)',
  async (_what, then) => {
    const account = await harness.gateway.account(CREDIT);
    sends(event(chunk('Hi')) + report, then);
    const { data } = await harness.read(account);
    expect(data).not.toContain('[DONE]');
    expect(data.at(-1)).toContain('provider_http_error');
    expect(await spent(account)).toBe(0n);
  },
);

describe('a stream that breaks after much was delivered', () => {
  const operator = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const listed = async (broken: string, accountId: string) => {
    const query = `broken=${broken}&account_id=${toPublicId('acct', accountId)}`;
    const { json } = await send(`${harness.gateway.url}/admin/executions?${query}`, {
      headers: operator,
    });
    return (json as { data: Record<string, unknown>[] }).data;
  };

  it('is free, and its record says what was made, which operators find by it (G-103)', async () => {
    const account = await harness.gateway.account(CREDIT);
    sends(event(chunk('one two three')), resets);
    await harness.read(account);
    sends(event(chunk('Hi')) + stop + report, closes);
    await harness.read(account);
    expect(await listed('true', account.accountId)).toMatchObject([
      {
        status: 'failed',
        charged_microusd: null,
        uncharged: { unit: 'token', quantity: { completion_tokens: 3 } },
      },
    ]);
    expect(await listed('false', account.accountId)).toMatchObject([{ uncharged: null }]);
    expect(await spent(account)).toBe(PRICE);
    const metrics = await (await fetch(`${harness.gateway.url}/metrics`)).text();
    expect(metrics).toMatch(
      /gateway_broken_streams_total\{provider="openai",upstream_model=".+"\} \d/,
    );
  });
});
