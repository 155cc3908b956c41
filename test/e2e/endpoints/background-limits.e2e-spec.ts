import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BackgroundHarness, BEGINS, COMPLETION } from '../../support/background-harness.js';
import { chunk, event, streams } from '../../support/chat-upstream-harness.js';
import { errorOf } from '../../support/http-answer.js';

const FORMER = '0190a6a0-0000-7000-8000-000000000001';
const STORED_BYTES = 20_000;
const USAGE = { prompt_tokens: 12, completion_tokens: 5_000, total_tokens: 5_012 };
const LARGE = streams(
  event(chunk('word '.repeat(5_000))),
  event(chunk('', { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })),
  event(chunk('', { choices: [], usage: USAGE })),
  'data: [DONE]\n\n',
);

let desk: BackgroundHarness;
beforeAll(async () => {
  desk = await BackgroundHarness.start({
    RESPONSES_MAX_BYTES_PER_ACCOUNT: String(STORED_BYTES),
    MAX_BACKGROUND_RESPONSES_PER_ACCOUNT: '2',
  });
});
afterAll(() => desk.stop());

describe('an answer in the background that is too large to be stored', () => {
  it('is charged, because its provider is paid, and says so', async () => {
    desk.upstream.reply = LARGE;
    const { id } = await desk.made();
    const response = await desk.ended(id);
    expect(response).toMatchObject({
      status: 'failed',
      error: { code: 'response_too_large' },
      output: [],
      usage: { input_tokens: 12, output_tokens: 5_000 },
    });
    // 12 tokens at 0.40 and 5,000 at 1.60 USD per million.
    expect(response.billing?.charged_microusd).toBe('8005');
    expect(await desk.taskOf(id)).toMatchObject({
      status: 'succeeded',
      charged_microusd: '8005',
      result: { response_id: id, status: 'failed' },
    });
  });
});

describe('the open responses of an account', () => {
  it('are bounded: one more is 429 naming the bound, and holds nothing', async () => {
    desk.upstream.reply = BEGINS;
    const key = { 'idempotency-key': 'bounded' };
    const open = [await desk.made({}, key), await desk.made()];
    const { held } = await desk.gateway.balance(desk.account.accountId);
    const refused = await desk.post({}, { 'idempotency-key': 'refused' });
    expect(refused.status).toBe(429);
    expect(errorOf(refused)).toMatchObject({ code: 'rate_limit_exceeded' });
    expect(errorOf(refused).message).toContain('at most 2 responses in the background');
    expect(refused.headers.get('retry-after')).toBe('5');
    expect((await desk.gateway.balance(desk.account.accountId)).held).toBe(held);
    // A replay is none more.
    expect((await desk.made({}, key)).id).toBe(open[0]?.id);
    for (const { id } of open) await desk.cancel(id);
    for (const { id } of open) await desk.ended(id);
    desk.reset();
    const { id } = await desk.made({}, { 'idempotency-key': 'refused' });
    await desk.ended(id);
  });
});

describe('while a process of version 0.1.0 lives, which does not know such tasks', () => {
  const beat = (lease: number) =>
    desk.gateway.dataSource.query(`SELECT process_beat('${FORMER}', $1, 0, 0)`, [lease]);

  it('no response is taken in the background: 503 with Retry-After, and nothing is held', async () => {
    const key = { 'idempotency-key': 'before-the-upgrade' };
    const { id } = await desk.made({}, key);
    await desk.ended(id);
    await beat(60_000);
    const before = await desk.gateway.balance(desk.account.accountId);
    const refused = await desk.post({}, { 'idempotency-key': 'in-the-upgrade' });
    expect(refused.status).toBe(503);
    expect(errorOf(refused)).toMatchObject({ code: 'service_unavailable', param: 'background' });
    expect(errorOf(refused).message).toContain('upgraded from version 0.1.0');
    expect(refused.headers.get('retry-after')).toBe('30');
    expect(await desk.gateway.balance(desk.account.accountId)).toEqual(before);
    // A replay is none more, and what is made at once is no task.
    expect((await desk.made({}, key)).id).toBe(id);
    desk.upstream.reply = (reply) => {
      reply.writeHead(200, { 'content-type': 'application/json' });
      reply.end(JSON.stringify(COMPLETION));
    };
    expect((await desk.made({ background: false })).status).toBe('completed');
    await beat(0);
    desk.reset();
    const later = await desk.made({}, { 'idempotency-key': 'in-the-upgrade' });
    await desk.ended(later.id);
  });
});
