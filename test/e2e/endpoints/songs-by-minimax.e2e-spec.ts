import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { AdminHarness } from '../../support/admin-harness.js';
import { mp3File } from '../../media/mp3-file.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { overlay } from '../../support/overlay-file.js';
import { expectRefused } from '../../support/refusal.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';

const MODEL = 'aud-song';
const PRICE = '200000';
const COST = '150000';
const PATH = '/v1/audio/music';
const SIGNED = '?Signature=sIgNaTuRe';
const MIB = 1024 * 1024;
const catalogFor = (minimax: string) =>
  overlay({
    models: [
      {
        id: MODEL,
        operation: 'composition',
        routes: [
          {
            provider: 'minimax',
            upstream_model: 'music-2.6',
            cost: { unit: 'request', micro_usd: Number(COST) },
          },
        ],
        price: { unit: 'request', micro_usd: Number(PRICE) },
      },
    ],
    providers: [{ id: 'minimax', protocol: 'minimax', base_url: minimax, api_key_env: '' }],
  });

let minimax: StubUpstream;
/** Where the files of the vendor lie: another origin. */
let files: StubUpstream;
let gateway: TestGateway;
let account: TestAccount;
let admin: AdminHarness;
let mp3: Buffer;

/** The vendor's answer, with the URL of the song. */
const answerAt = (origin: string) => {
  const data = { audio: `${origin}/songs/a.mp3${SIGNED}`, status: 2 };
  const extra = { music_duration: 2_000, music_sample_rate: 44_100, music_channel: 2 };
  const base = { status_code: 0, status_msg: 'success' };
  return JSON.stringify({ data, trace_id: '04ede0ab', extra_info: extra, base_resp: base });
};

beforeAll(async () => {
  mp3 = await mp3File(2, { rateHz: 44_100, kbps: 128 });
  [minimax, files] = await Promise.all([StubUpstream.start(), StubUpstream.start()]);
  gateway = await startTestGateway({
    CATALOG_FILE: catalogFor(minimax.url),
    EGRESS_ALLOW: new URL(files.url).host,
  });
  admin = await AdminHarness.start(gateway);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await admin.stop();
  await Promise.all([minimax.stop(), files.stop()]);
});
beforeEach(async () => {
  account = await gateway.account();
  for (const stub of [minimax, files]) stub.seen.length = 0;
  minimax.reply = (response) => response.end(answerAt(files.url));
  files.reply = (response) => response.end(mp3);
});

const compose = (fields: object = {}, headers: object = {}, signal?: AbortSignal) =>
  send(gateway.url + PATH, {
    method: 'POST',
    headers: { ...account.headers, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: MODEL, prompt: 'A calm piano', ...fields }),
    ...(signal && { signal }),
  });
const get = (path: string): Promise<Answer> =>
  send(gateway.url + path, { headers: account.headers });
const balance = () => gateway.balance(account.accountId);
async function lastRecord(): Promise<Record<string, unknown>> {
  let record: Record<string, unknown> | undefined;
  await until(async () => {
    const path = `/executions?account_id=acct_${account.accountId.replaceAll('-', '')}&limit=1`;
    [record] = (await admin.list(path)).data;
    return record !== undefined && record.status !== 'running';
  });
  const answer = await admin.get(`/executions/${String(record?.id)}`);
  return answer.json as Record<string, unknown>;
}
const LOST = {
  charged_microusd: null,
  cost_microusd: COST,
  uncharged: { unit: 'request', quantity: 1 },
};
/** The head of the song with this length, and its first bytes. */
const begin = (response: ServerResponse, length = mp3.length) =>
  response.writeHead(200, { 'content-length': length }).write(mp3.subarray(0, 1_000));

describe('music that is sold by the song', () => {
  it('is the file of the vendor, for the price of one song (G-115)', async () => {
    const before = await balance();
    const answer = await compose();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
    expect(answer.bytes.equals(mp3)).toBe(true);
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe(PRICE);
    const after = await balance();
    expect(before.available - after.available).toBe(BigInt(PRICE));
    expect(after).toMatchObject({ held: 0n, entries: before.entries + 1 });
    expect(await lastRecord()).toMatchObject({ charged_microusd: PRICE, cost_microusd: COST });
    expect([minimax.seen.length, files.seen.length]).toEqual([1, 1]);
  });

  it.each([
    ['duration_seconds', 30],
    ['response_format', 'pcm'],
    ['response_format', 'opus'],
  ])('refuses the %s %j before anything is held, and in a quote (G-115)', async (param, value) => {
    const refusal = { status: 400, code: 'invalid_request', param };
    const call = () => compose({ [param]: value });
    await expectRefused(gateway, account.accountId, call, refusal);
    const task = () => compose({ [param]: value }, { prefer: 'respond-async' });
    await expectRefused(gateway, account.accountId, task, refusal);
    const body = { model: MODEL, prompt: 'A calm piano', [param]: value };
    const quote = await postJson(`${gateway.url}/v1/quotes`, account.headers, { path: PATH, body });
    expect(JSON.stringify(quote.json)).toContain(`"param":"${param}"`);
    expect(minimax.seen).toHaveLength(0);
  });

  it('is quoted and listed with its price per request', async () => {
    const body = { model: MODEL, prompt: 'A calm piano' };
    const quote = await postJson(`${gateway.url}/v1/quotes`, account.headers, { path: PATH, body });
    expect(JSON.stringify(quote.json)).toContain(`"${PRICE}"`);
    expect((await get(`/v1/models/${MODEL}`)).json).toMatchObject({
      price: { unit: 'request', amount_microusd: PRICE },
    });
  });

  it('is refused with 402 where its price is not there', async () => {
    account = await gateway.account(BigInt(PRICE) - 1n);
    const answer = await compose();
    expect([answer.status, errorOf(answer).code]).toEqual([402, 'insufficient_funds']);
    expect(minimax.seen).toHaveLength(0);
  });

  it('is free and costs nothing where its words are refused', async () => {
    const before = await balance();
    const refusal = '{"base_resp":{"status_code":1026,"status_msg":"x"}}';
    minimax.reply = (response) => response.end(refusal);
    const answer = await compose();
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'provider_rejected_request']);
    expect(answer.headers.get('x-should-retry')).toBeNull();
    expect(await balance()).toEqual(before);
    expect(await lastRecord()).toMatchObject({ uncharged: null, cost_microusd: null });
  });

  it('has its file although that is there late, for one request and one charge', async () => {
    files.reply = (response) =>
      files.seen.length < 3 ? response.writeHead(404).end() : response.end(mp3);
    const answer = await compose();
    expect(answer.bytes.equals(mp3)).toBe(true);
    expect([minimax.seen.length, files.seen.length]).toEqual([1, 3]);
    expect(await lastRecord()).toMatchObject({ charged_microusd: PRICE });
  });

  it('arrives as its file does, piece by piece', async () => {
    let rest = (): unknown => undefined;
    files.reply = (response) => {
      begin(response);
      rest = () => response.end(mp3.subarray(1_000));
    };
    const body = JSON.stringify({ model: MODEL, prompt: 'A calm piano' });
    const headers = { ...account.headers, 'content-type': 'application/json' };
    const answer = await fetch(gateway.url + PATH, { method: 'POST', headers, body });
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.body!) {
      if (pieces.length === 0) rest();
      pieces.push(piece);
    }
    expect(Buffer.concat(pieces).equals(mp3)).toBe(true);
  });

  it.each<[string, string | undefined, StubUpstream['reply']]>([
    ['is forbidden', undefined, (response) => response.writeHead(403).end()],
    ['is a page', undefined, (response) => response.end('<html><body>Expired</body></html>')],
    ['is too large', undefined, (response) => begin(response, 33 * MIB)],
    [
      'leads to a private address',
      undefined,
      (response) => response.writeHead(302, { location: 'http://127.0.0.2/a' }).end(),
    ],
    ['lies at a private address', 'http://169.254.169.254', (response) => response.end(mp3)],
  ])('is free where its file %s, and is not to be bought again', async (_what, at, file) => {
    const before = await balance();
    files.reply = file;
    if (at !== undefined) minimax.reply = (response) => response.end(answerAt(at));
    const answer = await compose();
    expect([answer.status, errorOf(answer).code]).toEqual([502, 'provider_http_error']);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await balance()).toEqual(before);
    const record = await lastRecord();
    expect(record).toMatchObject(LOST);
    expect(answer.bytes.toString() + JSON.stringify(record)).not.toMatch(/sIgNaTuRe|songs\//);
    expect(minimax.seen).toHaveLength(1);
  });

  const endless = (response: ServerResponse): void => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(MIB)));
      if (!response.destroyed) response.once('drain', more);
    };
    response.write(mp3);
    more();
  };
  it.each<[string, StubUpstream['reply']]>([
    [
      'breaks off',
      (response) => {
        begin(response);
        setTimeout(() => response.destroy(), 50);
      },
    ],
    [
      'is shorter than it says',
      (response) => {
        begin(response);
        setTimeout(() => response.socket?.end(), 50);
      },
    ],
    ['never ends', endless],
  ])('is cut, free and on the record where its file %s', async (_what, file) => {
    const before = await balance();
    files.reply = file;
    await expect(compose()).rejects.toThrow();
    expect(await lastRecord()).toMatchObject(LOST);
    expect(await balance()).toEqual(before);
    expect([minimax.seen.length, files.seen.length]).toEqual([1, 1]);
  });

  it('is charged where its caller leaves (G-25)', async () => {
    let end = (): unknown => undefined;
    minimax.reply = (response) => (end = () => response.end(answerAt(files.url)));
    const leaving = new AbortController();
    const left = expect(compose({}, {}, leaving.signal)).rejects.toThrow();
    await until(() => minimax.seen.length === 1);
    leaving.abort();
    await left;
    end();
    expect(await lastRecord()).toMatchObject({ status: 'succeeded', charged_microusd: PRICE });
  });
});
