import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ASK,
  chunk,
  ChatUpstreamHarness,
  event,
  streams,
} from '../support/chat-upstream-harness.js';
import type { TestAccount } from '../support/gateway.js';
import { errorOf, postJson } from '../support/http-answer.js';

const CREDIT = 10_000_000n;
/** Past the 5 s after which the head goes out. */
const THINKS_MS = 5_600;

let harness: ChatUpstreamHarness;

beforeAll(async () => {
  harness = await ChatUpstreamHarness.start();
});
afterAll(() => harness.stop());

const done = 'data: [DONE]\n\n';
const says = (content: string) => streams(event(chunk(content)), done);
const refuses = (response: ServerResponse) => response.writeHead(429).end();
/** Does this after a silence. */
const late = (reply: (response: ServerResponse) => unknown) => async (response: ServerResponse) => {
  await sleep(THINKS_MS);
  reply(response);
};

const streamOf = (account: TestAccount, fields: object = {}) =>
  harness.read(account, { model: 'gen-5-mini', ...fields });

async function isFree({ accountId }: TestAccount): Promise<void> {
  expect(await harness.gateway.balance(accountId)).toMatchObject({ available: CREDIT, held: 0n });
}

describe('a model that is silent before its first chunk', () => {
  it('has its head and a comment sent after 5 s, and its answer when it comes (G-93)', async () => {
    harness.upstream.reply = late(says('Hi'));
    const events = await streamOf(await harness.gateway.account());
    expect(events.lines[0]).toBe(': ping');
    expect([events.text, events.data.at(-1)]).toEqual(['Hi', '[DONE]']);
  });

  it('has no comment where it answers sooner', async () => {
    harness.upstream.reply = says('Hi');
    const events = await streamOf(await harness.gateway.account());
    expect(events.lines.filter((line) => line.startsWith(':'))).toEqual([]);
  });

  it('may still be replaced by another route, whose response the client gets', async () => {
    harness.upstream.reply = late(refuses);
    harness.backup.reply = says('from the backup');
    const events = await streamOf(await harness.gateway.account());
    expect([events.lines[0], events.text]).toEqual([': ping', 'from the backup']);
  });

  it('and whose routes all refuse leaves an error event, and nothing is charged', async () => {
    harness.upstream.reply = late(refuses);
    harness.backup.reply = streams(event({ error: { code: 429 } }));
    const account = await harness.gateway.account(CREDIT);
    const events = await streamOf(account);
    expect(events.data).toHaveLength(1);
    expect(JSON.parse(events.data[0]!)).toMatchObject({ error: { code: 'provider_rate_limited' } });
    await isFree(account);
  });

  it('and that rejects sooner causes a plain error', async () => {
    harness.upstream.reply = refuses;
    harness.backup.reply = streams(event({ error: { code: 429 } }));
    const account = await harness.gateway.account(CREDIT);
    const body = { ...ASK, model: 'gen-5-mini', stream: true };
    const answer = await postJson(harness.url, account.headers, body);
    expect([answer.status, errorOf(answer).code]).toEqual([429, 'provider_rate_limited']);
    await isFree(account);
  });
});
