import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ASK, chunk, ChatUpstreamHarness, event } from '../support/chat-upstream-harness.js';
import { errorOf, postJson } from '../support/http-answer.js';

const CREDIT = 10_000_000n;
const JUNK = Buffer.from('junk behind the member');

let harness: ChatUpstreamHarness;

beforeAll(async () => {
  harness = await ChatUpstreamHarness.start();
});
afterAll(() => harness.stop());

function sends(contentType: string, ...pieces: readonly Buffer[]): void {
  harness.upstream.reply = (response) => {
    response.writeHead(200, { 'content-type': contentType, 'content-encoding': 'gzip' });
    response.end(Buffer.concat(pieces));
  };
}

describe('an answer in gzip with junk behind it', () => {
  const whole = JSON.stringify({ ...chunk(''), choices: [{ message: { content: 'Hi' } }] });

  it('is an answer without the junk', async () => {
    sends('application/json', gzipSync(whole));
    const { headers } = await harness.gateway.account(CREDIT);
    expect((await postJson(harness.url, headers, ASK)).status).toBe(200);
  });

  it('is a failure that costs nothing, and no other provider is tried, because the work may be done', async () => {
    sends('application/json', gzipSync(whole), JUNK);
    harness.backup.seen.length = 0;
    const { headers, accountId } = await harness.gateway.account(CREDIT);
    const answer = await postJson(harness.url, headers, { ...ASK, model: 'gen-5-mini' });
    expect([answer.status, errorOf(answer).code]).toEqual([502, 'provider_http_error']);
    expect(await harness.gateway.balance(accountId)).toMatchObject({ available: CREDIT, held: 0n });
    expect(harness.backup.seen).toHaveLength(0);
  });

  it('is a failure that costs nothing as a stream without its end, too', async () => {
    sends('text/event-stream', gzipSync(event(chunk('Half'))), JUNK);
    const account = await harness.gateway.account(CREDIT);
    const answer = await postJson(harness.url, account.headers, { ...ASK, stream: true });
    expect([answer.status, errorOf(answer).code]).toEqual([502, 'provider_http_error']);
    expect(await harness.gateway.balance(account.accountId)).toMatchObject({
      available: CREDIT,
      held: 0n,
    });
  });
});
