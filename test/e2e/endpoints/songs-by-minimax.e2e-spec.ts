import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { errorOf, postJson } from '../../support/http-answer.js';
import {
  LOST_SONG,
  MiniMaxDesk,
  SECRET_OF_URL,
  SONG_COST,
  SONG_MODEL,
  SONG_PATH,
  SONG_PRICE,
} from '../../support/minimax-desk.js';
import { expectRefused } from '../../support/refusal.js';
import type { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';

const MIB = 1024 * 1024;

let desk: MiniMaxDesk;
beforeAll(async () => {
  desk = await MiniMaxDesk.open();
});
afterAll(() => desk.close());
beforeEach(() => desk.clear());

describe('music that is sold by the song', () => {
  it('is the file of the vendor, for the price of one song (G-115)', async () => {
    const before = await desk.balance();
    const answer = await desk.compose();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
    expect(answer.bytes.equals(desk.mp3)).toBe(true);
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe(SONG_PRICE);
    const after = await desk.balance();
    expect(before.available - after.available).toBe(BigInt(SONG_PRICE));
    expect(after).toMatchObject({ held: 0n, entries: before.entries + 1 });
    expect(await desk.lastRecord()).toMatchObject({
      charged_microusd: SONG_PRICE,
      cost_microusd: SONG_COST,
    });
    expect([desk.minimax.seen.length, desk.files.seen.length]).toEqual([1, 1]);
  });

  it.each([
    ['duration_seconds', 30],
    ['response_format', 'pcm'],
    ['response_format', 'opus'],
  ])('refuses the %s %j before anything is held, and in a quote (G-115)', async (param, value) => {
    const refusal = { status: 400, code: 'invalid_request', param };
    const call = () => desk.compose({ [param]: value });
    await expectRefused(desk.gateway, desk.account.accountId, call, refusal);
    const task = () => desk.compose({ [param]: value }, { prefer: 'respond-async' });
    await expectRefused(desk.gateway, desk.account.accountId, task, refusal);
    const body = { model: SONG_MODEL, prompt: 'A calm piano', [param]: value };
    const quote = await postJson(`${desk.gateway.url}/v1/quotes`, desk.account.headers, {
      path: SONG_PATH,
      body,
    });
    expect(JSON.stringify(quote.json)).toContain(`"param":"${param}"`);
    expect(desk.minimax.seen).toHaveLength(0);
  });

  it('is quoted, and listed with its price per request and what it takes', async () => {
    const body = { model: SONG_MODEL, prompt: 'A calm piano' };
    const quote = await postJson(`${desk.gateway.url}/v1/quotes`, desk.account.headers, {
      path: SONG_PATH,
      body,
    });
    expect(JSON.stringify(quote.json)).toContain(`"${SONG_PRICE}"`);
    expect((await desk.get(`/v1/models/${SONG_MODEL}`)).json).toMatchObject({
      price: { unit: 'request', amount_microusd: SONG_PRICE },
      limits: { response_format: { values: ['mp3'] } },
      parameters: expect.not.arrayContaining(['duration_seconds']),
    });
  });

  it('is refused with 402 where its price is not there', async () => {
    desk.account = await desk.gateway.account(BigInt(SONG_PRICE) - 1n);
    const answer = await desk.compose();
    expect([answer.status, errorOf(answer).code]).toEqual([402, 'insufficient_funds']);
    expect(desk.minimax.seen).toHaveLength(0);
  });

  it('is free and costs nothing where its words are refused', async () => {
    const before = await desk.balance();
    const refusal = '{"base_resp":{"status_code":1026,"status_msg":"x"}}';
    desk.minimax.reply = (response) => response.end(refusal);
    const answer = await desk.compose();
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'provider_rejected_request']);
    expect(answer.headers.get('x-should-retry')).toBeNull();
    expect(await desk.balance()).toEqual(before);
    expect(await desk.lastRecord()).toMatchObject({ uncharged: null, cost_microusd: null });
  });

  it.each<[string, string | undefined, StubUpstream['reply']]>([
    ['is forbidden', undefined, (response) => response.writeHead(403).end()],
    ['is a page', undefined, (response) => response.end('<html><body>Expired</body></html>')],
    [
      'is too large',
      undefined,
      (response) => {
        desk.begin(response, 33 * MIB);
      },
    ],
    [
      'leads to a private address',
      undefined,
      (response) => response.writeHead(302, { location: 'http://127.0.0.2/a' }).end(),
    ],
    ['lies at a private address', 'http://169.254.169.254', (response) => response.end(desk.mp3)],
  ])('is free where its file %s, and is not to be bought again', async (_what, at, file) => {
    const before = await desk.balance();
    desk.files.reply = file;
    if (at !== undefined) desk.minimax.reply = (response) => response.end(desk.madeAt(at));
    const answer = await desk.compose();
    expect([answer.status, errorOf(answer).code]).toEqual([502, 'provider_http_error']);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await desk.balance()).toEqual(before);
    const record = await desk.lastRecord();
    expect(record).toMatchObject(LOST_SONG);
    expect(answer.bytes.toString() + JSON.stringify(record)).not.toMatch(SECRET_OF_URL);
    expect(desk.minimax.seen).toHaveLength(1);
  });

  it('is charged where its caller leaves (G-25)', async () => {
    let end = (): unknown => undefined;
    desk.minimax.reply = (response) => (end = () => response.end(desk.madeAt(desk.files.url)));
    const leaving = new AbortController();
    const left = expect(desk.compose({}, {}, leaving.signal)).rejects.toThrow();
    await until(() => desk.minimax.seen.length === 1);
    leaving.abort();
    await left;
    end();
    expect(await desk.lastRecord()).toMatchObject({
      status: 'succeeded',
      charged_microusd: SONG_PRICE,
    });
  });
});
