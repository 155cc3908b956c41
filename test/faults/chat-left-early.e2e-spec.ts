import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ASK, chunk, ChatUpstreamHarness, event } from '../support/chat-upstream-harness.js';
import type { TestAccount } from '../support/gateway.js';

const CREDIT = 1_000_000_000n;
/** One token for each word. */
const PROMPT = ' so'.repeat(10_000);
/** The words, and what surrounds a message and a reply; 0.4 micro-USD each. */
const PROMPT_PRICE = ((10_000n + 6n) * 400_000n + 999_999n) / 1_000_000n;

let harness: ChatUpstreamHarness;

beforeAll(async () => {
  harness = await ChatUpstreamHarness.start();
});
afterAll(() => harness.stop());

/** A stream that is left when `moment` has come. It rejects in the client, which has no answer yet. */
async function leave(
  account: TestAccount,
  moment: () => Promise<unknown>,
  model = 'gen-4-mini',
): Promise<void> {
  const leaving = new AbortController();
  const call = fetch(harness.url, {
    method: 'POST',
    signal: leaving.signal,
    headers: { ...account.headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...ASK,
      model,
      stream: true,
      messages: [{ role: 'user', content: PROMPT }],
    }),
  });
  const left = expect(call).rejects.toThrow('aborted');
  await moment();
  leaving.abort();
  await left;
  // The gateway has to see it before the provider goes on.
  await sleep(50);
}

/** The provider's side of the next call, which has not been answered. */
function nextAtProvider(): Promise<ServerResponse> {
  return new Promise((resolve) => {
    harness.upstream.reply = (response) => {
      resolve(response);
    };
  });
}

/** The only call of the account, after nothing is held for it. */
async function ended({ accountId }: TestAccount) {
  for (;;) {
    const rows = await harness.gateway.dataSource.query<Record<string, string | null>[]>(
      `SELECT status, error_code, charged FROM execution WHERE account_id = $1 AND status <> 'running'`,
      [accountId],
    );
    if (rows[0] && (await harness.gateway.balance(accountId)).held === 0n) return rows[0];
    await sleep(10);
  }
}

it('a stream left before its first chunk costs its prompt when the provider begins it, and ends there (CHAT-26, G-24)', async () => {
  const account = await harness.gateway.account(CREDIT);
  const atProvider = nextAtProvider();
  await leave(account, () => atProvider);
  const { aborted } = harness.upstream;
  const response = await atProvider;
  response.setHeader('content-type', 'text/event-stream');
  response.write(event(chunk('')));
  expect(await ended(account)).toEqual({
    status: 'succeeded',
    error_code: null,
    charged: String(PROMPT_PRICE),
  });
  while (harness.upstream.aborted === aborted) await sleep(5);
  expect(await harness.gateway.balance(account.accountId)).toMatchObject({
    available: CREDIT - PROMPT_PRICE,
  });
});

it('a stream left before its first chunk costs the text of that chunk as well', async () => {
  const account = await harness.gateway.account(CREDIT);
  const atProvider = nextAtProvider();
  await leave(account, () => atProvider);
  (await atProvider).write(event(chunk(' so'.repeat(1_000))));
  expect(await ended(account)).toMatchObject({ charged: String(PROMPT_PRICE + 1_600n) });
});

it('a stream whose client disconnects before the first chunk is free if the provider rejects it, and no other provider is tried', async () => {
  const account = await harness.gateway.account(CREDIT);
  const atProvider = nextAtProvider();
  const { length } = harness.backup.seen;
  await leave(account, () => atProvider, 'gen-5-mini');
  (await atProvider).writeHead(429).end();
  expect(await ended(account)).toMatchObject({ status: 'failed', charged: null });
  expect(harness.backup.seen).toHaveLength(length);
});

it('a stream left while its hold waits is not sent to the provider', async () => {
  const account = await harness.gateway.account(CREDIT);
  const { length } = harness.upstream.seen;
  await harness.gateway.dataSource.transaction(async (manager) => {
    await manager.query('SELECT FROM account WHERE id = $1 FOR UPDATE', [account.accountId]);
    await leave(account, () => sleep(300));
  });
  expect(await ended(account)).toMatchObject({ error_code: 'client_left', charged: null });
  expect(harness.upstream.seen).toHaveLength(length);
});
