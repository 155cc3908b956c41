import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { leaveAfter } from '../support/event-stream.js';
import { ASK, ChatUpstreamHarness } from '../support/chat-upstream-harness.js';

const READERS = 30;
const CHUNKS = 100;
const CREDIT = 1_000_000_000n;
const event = (fields: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...fields })}\n\n`;
/** 30 kB of which one word is text. */
const CHUNK = event({
  choices: [{ index: 0, delta: { content: ' so' }, logprobs: { content: 'a'.repeat(30_000) } }],
});
/** 100 tokens of the prompt and 4,000 of the answer, with the reasoning that nobody sees. */
const END = `${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}${event({
  choices: [],
  usage: { prompt_tokens: 100, completion_tokens: 4_000, total_tokens: 4_100 },
})}data: [DONE]\n\n`;
/** The price of `gen-5` for that. */
const PRICE = (100n * 1_250_000n + 4_000n * 10_000_000n) / 1_000_000n;

let harness: ChatUpstreamHarness;

beforeAll(async () => {
  harness = await ChatUpstreamHarness.start();
});
afterAll(() => harness.stop());

async function sendRest(response: ServerResponse): Promise<void> {
  for (let chunk = 1; chunk < CHUNKS; chunk += 1) {
    if (!response.write(CHUNK)) await once(response, 'drain');
  }
  response.end(END);
}

it('clients that disconnect at once from long responses of a reasoning model each pay the usage at the end (G-24)', async () => {
  const atProvider: ServerResponse[] = [];
  harness.upstream.reply = (response) => {
    atProvider.push(response);
    response.setHeader('content-type', 'text/event-stream');
    response.write(CHUNK);
  };
  const { accountId, headers } = await harness.gateway.account(CREDIT);
  await Promise.all(
    Array.from({ length: READERS }, () =>
      leaveAfter(harness.url, headers, { ...ASK, stream: true, max_tokens: 5_000 }, 1),
    ),
  );
  await Promise.all(atProvider.map(sendRest));
  while ((await harness.gateway.balance(accountId)).held > 0n) await sleep(10);
  const rows = await harness.gateway.dataSource.query<{ charged: string; status: string }[]>(
    'SELECT charged, status FROM execution WHERE account_id = $1',
    [accountId],
  );
  expect(rows).toEqual(Array(READERS).fill({ charged: String(PRICE), status: 'succeeded' }));
});
