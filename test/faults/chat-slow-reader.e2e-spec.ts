import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ASK, ChatUpstreamHarness, event } from '../support/chat-upstream-harness.js';

const CREDIT = 1_000_000_000n;
/** 30 kB of which one word is text. */
const CHUNK = event({
  id: 'c',
  choices: [{ index: 0, delta: { content: ' so' }, logprobs: { content: 'a'.repeat(30_000) } }],
});
/** More than all sockets on the way hold. */
const CHUNKS = 2_000;
const PATIENCE_MS = 1_500;

let harness: ChatUpstreamHarness;

beforeAll(async () => {
  harness = await ChatUpstreamHarness.start();
});
afterAll(() => harness.stop());

/** Writes chunks until they are not taken for a while, then breaks off, as some providers do. */
async function writeImpatiently(response: ServerResponse): Promise<void> {
  response.setHeader('content-type', 'text/event-stream');
  for (let chunk = 0; chunk < CHUNKS; chunk += 1) {
    if (response.write(CHUNK)) continue;
    const patience = AbortSignal.timeout(PATIENCE_MS);
    const isTaken = await once(response, 'drain', { signal: patience }).then(
      () => true,
      () => false,
    );
    if (!isTaken) break;
  }
  response.destroy();
}

it('a slow client for whom the provider does not wait pays for the generated text, like one that disconnects', async () => {
  const { accountId, headers } = await harness.gateway.account(CREDIT);
  const gaveUp = new Promise<void>((resolve) => {
    harness.upstream.reply = (response) => {
      void writeImpatiently(response).then(resolve);
    };
  });
  const answer = await fetch(harness.url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ ...ASK, model: 'gen-4-mini', stream: true }),
  });
  const reader = answer.body?.getReader();
  await reader?.read();
  await gaveUp;
  const rest = async () => {
    while (!(await reader?.read())?.done) continue;
  };
  await expect(rest()).rejects.toThrow('terminated');
  while ((await harness.gateway.balance(accountId)).held > 0n) await sleep(20);
  const [row] = await harness.gateway.dataSource.query<{ status: string; charged: string }[]>(
    'SELECT status, charged FROM execution WHERE account_id = $1',
    [accountId],
  );
  expect(row?.status).toBe('succeeded');
  expect(Number(row?.charged)).toBeGreaterThan(0);
});

it('a slow client pays nothing if the provider reports a failure', async () => {
  const { accountId, headers } = await harness.gateway.account(CREDIT);
  const waited = new Promise<void>((resolve) => {
    harness.upstream.reply = (response) => {
      response.setHeader('content-type', 'text/event-stream');
      for (let chunk = 0; chunk < CHUNKS; chunk += 1) response.write(CHUNK);
      response.end(event({ error: { code: 'server_error', message: 'no' } }));
      void sleep(PATIENCE_MS).then(resolve);
    };
  });
  const answer = await fetch(harness.url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ ...ASK, model: 'gen-4-mini', stream: true }),
  });
  await waited;
  expect((await answer.text()).slice(-300)).toContain('"code":"provider_http_error"');
  while ((await harness.gateway.balance(accountId)).held > 0n) await sleep(20);
  expect((await harness.gateway.balance(accountId)).available).toBe(CREDIT);
});
