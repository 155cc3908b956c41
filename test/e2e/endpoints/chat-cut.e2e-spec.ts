import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatRecord } from '../../../src/sandbox/chat/chat-log.js';
import { leaveAfter } from '../../support/event-stream.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';

/** `CUT_STREAMS=2000 npm run jest -- test/e2e/endpoints/chat-cut.e2e-spec.ts` cuts more. */
const STREAMS = Number(process.env.CUT_STREAMS ?? 100);
/** Streams at a time; the sandbox remembers the last 1,000. */
const BATCH = 50;
const LONGEST = 60;
/** Words that are one token each, for both the sandbox and the gateway. */
const WORDS = [' and', ' so', ' on', ' the', ' of', ' to', ' in', ' it', ' is', ' be'];
const CREDIT = 1_000_000_000n;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const promptOf = (index: number) =>
  `Say${[...String(index)].map((digit) => WORDS[Number(digit)]).join('')}`;

const priceOf = ({ promptTokens, completionTokens }: ChatRecord) =>
  (BigInt(promptTokens) * 400_000n + BigInt(completionTokens) * 1_600_000n + 999_999n) / 1_000_000n;

/** The price of `gen-5`, with its hidden reasoning. */
const priceOfReasoning = (record: ChatRecord) =>
  (BigInt(record.promptTokens) * 1_250_000n +
    BigInt(record.completionTokens + record.reasoningTokens) * 10_000_000n +
    999_999n) /
  1_000_000n;

async function settled(accountId: string): Promise<void> {
  while ((await gateway.balance(accountId)).held > 0n) await sleep(10);
}

async function charges(accountId: string): Promise<bigint[]> {
  const rows = await gateway.dataSource.query<{ charged: string; status: string }[]>(
    'SELECT charged, status FROM execution WHERE account_id = $1',
    [accountId],
  );
  expect(rows.filter(({ status }) => status !== 'succeeded')).toEqual([]);
  return ascending(rows.map(({ charged }) => BigInt(charged)));
}

const ascending = (amounts: bigint[]) => amounts.sort((a, b) => Number(a - b));

/** Opens a batch of streams; each client leaves after the given number of tokens. */
async function cut(
  first: number,
  cutAfter: number[],
  words: (cut: number) => string,
  model = 'gen-4-mini',
) {
  const { accountId, headers } = await gateway.account(CREDIT);
  const seen = await Promise.all(
    cutAfter.map((tokens, index) =>
      leaveAfter(
        `${gateway.url}/v1/chat/completions`,
        headers,
        {
          model,
          stream: true,
          user: words(tokens),
          messages: [{ role: 'user', content: promptOf(first + index) }],
        },
        tokens,
      ),
    ),
  );
  await settled(accountId);
  const prompts = new Set(cutAfter.map((_, index) => promptOf(first + index)));
  const records = ((await gateway.sandbox?.chats(2 * BATCH)) ?? []).filter(({ prompt }) =>
    prompts.has(prompt),
  );
  return { accountId, seen, records };
}

const randomCuts = (count: number) =>
  Array.from({ length: count }, () => 1 + Math.floor(Math.random() * LONGEST));

describe('a client that disconnects in the middle of a stream', () => {
  it(
    'pays for exactly the tokens the provider made, stream by stream (CHAT-26)',
    async () => {
      for (let first = 0; first < STREAMS; first += BATCH) {
        const cuts = randomCuts(Math.min(BATCH, STREAMS - first));
        const { accountId, records } = await cut(
          first,
          cuts,
          (tokens) => `[[sandbox:tokens=100]] [[sandbox:hang-after=${tokens}]]`,
        );
        expect(ascending(records.map(priceOf))).toEqual(await charges(accountId));
        expect(records.every(({ isAborted, isComplete }) => isAborted && !isComplete)).toBe(true);
        const made = records.map(({ completionTokens }) => completionTokens);
        expect(made.sort((a, b) => a - b)).toEqual(cuts.sort((a, b) => a - b));
      }
    },
    30_000 + STREAMS * 100,
  );

  it('pays for no less than it has read and no more than was made while tokens flow', async () => {
    const { accountId, seen, records } = await cut(
      900,
      randomCuts(20),
      () => '[[sandbox:tokens=5000]] [[sandbox:pace=2]]',
    );
    const paid = (await charges(accountId)).reduce((sum, amount) => sum + amount, 0n);
    const made = records.map(priceOf).reduce((sum, amount) => sum + amount, 0n);
    const read = records
      .map((record, index) => priceOf({ ...record, completionTokens: seen[index] ?? 0 }))
      .reduce((sum, amount) => sum + amount, 0n);
    expect(records).toHaveLength(20);
    expect(paid).toBeGreaterThanOrEqual(read);
    expect(paid).toBeLessThanOrEqual(made);
    expect(records.every(({ completionTokens }) => completionTokens < 5000)).toBe(true);
  });

  it.each([
    ['in the middle', 3],
    ['at its last token, before the reason to end', 12],
  ])('%s pays for hidden reasoning as well: the provider is read to the end', async (_, cutAt) => {
    const { accountId, records } = await cut(
      2_000 + cutAt,
      [cutAt, cutAt, cutAt],
      () => '[[sandbox:tokens=12]] [[sandbox:pace=5]] [[sandbox:reasoning=4990]]',
      'gen-5',
    );
    expect(records.every(({ isComplete }) => isComplete)).toBe(true);
    expect(await charges(accountId)).toEqual(ascending(records.map(priceOfReasoning)));
    expect(records.map(({ reasoningTokens }) => reasoningTokens)).toEqual([4_990, 4_990, 4_990]);
  });

  it('after the reason to end waits for the usage of a model that does not reason', async () => {
    const { accountId, headers } = await gateway.account(CREDIT);
    await leaveAfter(
      `${gateway.url}/v1/chat/completions`,
      headers,
      {
        model: 'gen-4-mini',
        stream: true,
        user: '[[sandbox:tokens=5]] [[sandbox:reasoning=100]]',
        messages: [{ role: 'user', content: 'Say it at once' }],
      },
      5,
    );
    await settled(accountId);
    const [record] = (await gateway.sandbox?.chats(10))!.filter(({ prompt }) =>
      prompt.startsWith('Say it at once'),
    );
    const all = { ...record!, completionTokens: 105 };
    expect([priceOf(record!), priceOf(all)]).toContain((await charges(accountId))[0]);
  });
});

describe('a call that reasoned unseen', () => {
  it('keeps what its charge is made of', async () => {
    const { accountId, headers } = await gateway.account(CREDIT);
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'gen-5',
        user: '[[sandbox:tokens=7]] [[sandbox:reasoning=93]]',
        messages: [{ role: 'user', content: 'Go' }],
      }),
    });
    const [row] = await gateway.dataSource.query<Record<string, unknown>[]>(
      'SELECT unit, quantity, unit_price, estimated FROM execution WHERE account_id = $1',
      [accountId],
    );
    expect(row).toEqual({
      unit: 'token',
      quantity: {
        promptTokens: expect.any(Number),
        cachedTokens: 0,
        completionTokens: 100,
        reasoningTokens: 93,
      },
      unit_price: { inputPerMillion: '1250000', outputPerMillion: '10000000' },
      estimated: false,
    });
  });
});
