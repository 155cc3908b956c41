import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AdminHarness } from '../../support/admin-harness.js';
import { audioSeconds } from '../../support/audio-seconds.js';
import { mp3File } from '../../media/mp3-file.js';
import { riffChunk, wavFormat, wavOf } from '../../media/wav-file.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { overlay } from '../../support/overlay-file.js';
import { expectRefused } from '../../support/refusal.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';

const MODEL = 'aud-song';
const PRICE = '200000';
const PATH = '/v1/audio/music';
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
            cost: { unit: 'request', micro_usd: 150_000 },
          },
        ],
        price: { unit: 'request', micro_usd: Number(PRICE) },
      },
    ],
    providers: [{ id: 'minimax', protocol: 'minimax', base_url: minimax, api_key_env: '' }],
  });

let minimax: StubUpstream;
let gateway: TestGateway;
let account: TestAccount;
let admin: AdminHarness;
let mp3: Buffer;
const wav = wavOf([
  wavFormat({ channels: 2, rateHz: 24_000 }),
  riffChunk('data', Buffer.alloc(2 * 96_000, Buffer.from([1, 4, 2, 4]))),
]);
const SIGNED = '?Signature=sIgNaTuRe';
/** The vendor's answer to a request, with the URL of the song in the format that was asked for. */
const answerTo = (body: Buffer, at = minimax.url) => {
  const format = body.includes('"wav"') ? 'wav' : 'mp3';
  const data = { audio: `${at}/songs/a.${format}${SIGNED}`, status: 2 };
  const extra = { music_duration: 2_000, music_sample_rate: 44_100, music_channel: 2 };
  const base = { status_code: 0, status_msg: 'success' };
  return JSON.stringify({ data, trace_id: '04ede0ab', extra_info: extra, base_resp: base });
};

beforeAll(async () => {
  mp3 = await mp3File(2, { rateHz: 44_100, kbps: 128 });
  minimax = await StubUpstream.start();
  gateway = await startTestGateway({
    CATALOG_FILE: catalogFor(minimax.url),
    EGRESS_ALLOW: new URL(minimax.url).host,
  });
  admin = await AdminHarness.start(gateway);
});
afterAll(async () => {
  await admin.stop();
  await minimax.stop();
});
beforeEach(async () => {
  account = await gateway.account();
  minimax.seen.length = 0;
  minimax.reply = reply;
});

const songAt = (url: string) => (url.includes('.wav') ? wav : mp3);
const reply: StubUpstream['reply'] = (response, { method, url, body }) =>
  response.end(method === 'GET' ? songAt(url) : answerTo(body));
/** Requests for songs, without those for their files. */
const asked = () => minimax.seen.filter(({ method }) => method === 'POST');

const compose = (fields: object = {}, headers: object = {}, signal?: AbortSignal) =>
  send(gateway.url + PATH, {
    method: 'POST',
    headers: { ...account.headers, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: MODEL, prompt: 'A calm piano', ...fields }),
    ...(signal && { signal }),
  });
const get = (path: string): Promise<Answer> =>
  send(gateway.url + path, { headers: account.headers });
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

describe('music that is sold by the song', () => {
  it.each(['mp3', 'opus', 'pcm'] as const)(
    'costs its price as %s, however long it is, and its record has its length (G-115)',
    async (format) => {
      const before = await gateway.balance(account.accountId);
      const answer = await compose({ response_format: format });
      expect(Math.abs(audioSeconds(answer, format) - 2)).toBeLessThan(0.1);
      expect(answer.headers.get('x-gateway-charge-microusd')).toBe(PRICE);
      const after = await gateway.balance(account.accountId);
      expect(before.available - after.available).toBe(BigInt(PRICE));
      expect(after).toMatchObject({ held: 0n, entries: before.entries + 1 });
      const record = await lastRecord();
      expect(record).toMatchObject({ charged_microusd: PRICE, cost_microusd: '150000' });
      const { measured_ms: measured } = record.provider_figures as { measured_ms: number };
      expect(Math.abs(measured - 2_000)).toBeLessThan(60);
      expect(minimax.seen.map(({ method }) => method)).toEqual(['POST', 'GET']);
      expect(answer.bytes.includes('sIgNaTuRe')).toBe(false);
    },
  );

  it('is asked for with the words of the caller, or with words of the vendor', async () => {
    const sent = () => JSON.parse(asked().at(-1)!.body.toString()) as object;
    await compose({ lyrics: '[Verse]\nHello' });
    expect(sent()).toMatchObject({ model: 'music-2.6', lyrics: '[Verse]\nHello' });
    await compose({ lyrics: 'Hello', instrumental: true });
    expect(sent()).toMatchObject({ is_instrumental: true });
    expect(sent()).not.toHaveProperty('lyrics');
    await compose();
    expect(sent()).toMatchObject({ lyrics_optimizer: true });
  });

  it('refuses a length, which nobody can ask for, before anything is held (G-115)', async () => {
    const refusal = { status: 400, code: 'invalid_request', param: 'duration_seconds' };
    const call = () => compose({ duration_seconds: 30 });
    await expectRefused(gateway, account.accountId, call, refusal);
    const quoted = () =>
      postJson(`${gateway.url}/v1/quotes`, account.headers, {
        path: PATH,
        body: { model: MODEL, prompt: 'A calm piano', duration_seconds: 30 },
      });
    expect(JSON.stringify((await quoted()).json)).toContain('duration_seconds');
    expect(minimax.seen).toHaveLength(0);
  });

  it('is quoted, shown and listed with a price per request', async () => {
    const quote = await postJson(`${gateway.url}/v1/quotes`, account.headers, {
      path: PATH,
      body: { model: MODEL, prompt: 'A calm piano' },
    });
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

  it('is free where its words are refused', async () => {
    const before = await gateway.balance(account.accountId);
    minimax.reply = (response) =>
      response.end('{"base_resp":{"status_code":1026,"status_msg":"x"}}');
    const answer = await compose();
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'provider_rejected_request']);
    expect(await gateway.balance(account.accountId)).toEqual(before);
    expect(await lastRecord()).toMatchObject({ uncharged: null, cost_microusd: null });
  });

  it.each<[string, string | undefined, StubUpstream['reply']]>([
    ['is gone', undefined, (response) => response.writeHead(404).end()],
    ['is no audio', undefined, (response) => response.end('no music')],
    [
      'breaks off',
      undefined,
      (response) => response.writeHead(200).write('ID3', () => response.destroy()),
    ],
    ['lies at an address that is not public', 'http://169.254.169.254', reply],
  ])('is free where its file %s, and its record has what it costs', async (_what, at, file) => {
    const before = await gateway.balance(account.accountId);
    minimax.reply = (response, seen) =>
      seen.method === 'GET' ? file(response, seen) : response.end(answerTo(seen.body, at));
    const answer = await compose();
    expect([answer.status, errorOf(answer).code]).toEqual([502, 'provider_http_error']);
    expect(await gateway.balance(account.accountId)).toEqual(before);
    const record = await lastRecord();
    expect(record).toMatchObject({
      charged_microusd: null,
      cost_microusd: '150000',
      uncharged: { unit: 'request', quantity: 1 },
    });
    expect(answer.bytes.toString() + JSON.stringify(record)).not.toMatch(/sIgNaTuRe|songs\//);
    expect(asked()).toHaveLength(1);
  });

  it('is charged where its caller leaves (G-25)', async () => {
    let end = (): unknown => undefined;
    minimax.reply = (response, seen) =>
      seen.method === 'GET' ? reply(response, seen) : (end = () => reply(response, seen));
    const leaving = new AbortController();
    const left = expect(compose({}, {}, leaving.signal)).rejects.toThrow();
    await until(() => minimax.seen.length === 1);
    leaving.abort();
    await left;
    end();
    expect(await lastRecord()).toMatchObject({ status: 'succeeded', charged_microusd: PRICE });
  });

  /** The ended task of a song, as its caller sees it. */
  async function ended() {
    const answer = await compose({}, { prefer: 'respond-async' });
    expect(answer.status).toBe(202);
    const { id } = answer.json as { id: string };
    const read = async () => (await get(`/v1/tasks/${id}`)).json as { status: string };
    await until(async () => !['queued', 'processing'].includes((await read()).status));
    return { id, task: await read() };
  }

  it('may be a task', async () => {
    const { id, task } = await ended();
    expect(task).toMatchObject({ status: 'succeeded', charged_microusd: PRICE });
    expect(Math.abs(audioSeconds(await get(`/v1/tasks/${id}/content`)) - 2)).toBeLessThan(0.1);
  });

  it('is free as a task too where its file is lost, and its record has what it costs', async () => {
    minimax.reply = (response, seen) =>
      seen.method === 'GET' ? response.writeHead(404).end() : reply(response, seen);
    const { id, task } = await ended();
    expect(task).toMatchObject({ status: 'failed', charged_microusd: null });
    expect((await admin.get(`/tasks/${id}`)).json).toMatchObject({
      cost_microusd: '150000',
      uncharged: { unit: 'request', quantity: 1 },
    });
    expect(asked()).toHaveLength(1);
  });

  it('counts as one in usage and statements, beside seconds of other music', async () => {
    await compose();
    await compose();
    await postJson(gateway.url + PATH, account.headers, {
      model: 'aud-music-v2.5',
      prompt: 'piano [[instant]]',
      duration_seconds: 3,
    });
    const month = new Date().toISOString().slice(0, 7);
    let usage: { model: string; unit: string | null; quantity: number }[] = [];
    await until(async () => {
      const { json } = await get(`/v1/usage?group_by=model&from=${month}-01`);
      usage = (json as { data: typeof usage }).data;
      return usage.length === 2;
    });
    expect(usage).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ model: MODEL, unit: 'task', quantity: 2 }),
        expect.objectContaining({ model: 'aud-music-v2.5', unit: 'second', quantity: 3 }),
      ]),
    );
    const { json } = await get(`/v1/usage?group_by=endpoint&from=${month}-01`);
    expect((json as { data: object[] }).data).toMatchObject([{ unit: null, quantity: null }]);
    const statement = await get(`/v1/statements/${month}`);
    expect(JSON.stringify(statement.json)).toContain('"unit":"task"');
  });
});
