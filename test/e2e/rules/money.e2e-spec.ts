import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { type Answer, postJson, send } from '../../support/http-answer.js';
import {
  HELLO,
  PAID_AUDIO_ENDPOINTS,
  PAID_ENDPOINTS,
  READ_PATHS,
} from '../../support/paid-endpoints.js';
import { startRecordingServer, type RecordingServer } from '../../support/recording-server.js';
import { expectRefused, upstreamCalls } from '../../support/refusal.js';

let recordings: RecordingServer;
let gateway: TestGateway;

beforeAll(async () => {
  recordings = await startRecordingServer();
  gateway = await startTestGateway(recordings.settings);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await recordings.stop();
});

const PRICED = PAID_ENDPOINTS.flatMap((row) =>
  row.price === undefined ? [] : [{ ...row, price: row.price }],
);
const insufficient = (surface: 'audio' | 'general') => ({
  status: 402,
  code: surface === 'audio' ? 'insufficient_funds' : 'insufficient_user_quota',
});
const counted = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

describe('the balance', () => {
  it.each(PRICED)('one micro-USD below the price of $path refuses it (BILL-01)', async (row) => {
    const { accountId, headers } = await gateway.account(row.price - 1n);
    const call = () => postJson(gateway.url + row.path, headers, row.body(recordings.url));
    const { answer, error } = await expectRefused(
      gateway,
      accountId,
      call,
      insufficient(row.surface),
    );
    expect(error.type).toBe('insufficient_quota');
    expect(answer.headers.get('x-gateway-charge-microusd')).toBeNull();
  });

  it.each(PRICED)(
    'equal to the price of $path pays it and is zero then (BILL-02, G-29)',
    async (row) => {
      const { accountId, headers } = await gateway.account(row.price);
      const answer = await postJson(gateway.url + row.path, headers, row.body(recordings.url));
      expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
      expect(answer.headers.get('x-gateway-charge-microusd')).toBe(row.price.toString());
      expect(await gateway.balance(accountId)).toEqual({ available: 0n, held: 0n, entries: 2 });
    },
  );

  it.each(PAID_ENDPOINTS)('of zero refuses $path (BILL-03)', async (row) => {
    const { accountId, headers } = await gateway.account(0n);
    const call = () => postJson(gateway.url + row.path, headers, row.body(recordings.url));
    await expectRefused(gateway, accountId, call, insufficient(row.surface));
  });

  it.each(READ_PATHS)('of zero does not refuse GET %s (BILL-03)', async (path) => {
    const { headers } = await gateway.account(0n);
    expect((await send(gateway.url + path, { headers })).status).toBe(200);
  });

  it.each(PAID_AUDIO_ENDPOINTS)(
    'too small is insufficient_funds on $path (BILL-15)',
    async (row) => {
      const { accountId, headers } = await gateway.account(1n);
      const call = () => postJson(gateway.url + row.path, headers, row.body(recordings.url));
      await expectRefused(gateway, accountId, call, { status: 402, code: 'insufficient_funds' });
    },
  );
});

describe('many calls at once', () => {
  const speak = (headers: Record<string, string>, fields: object = {}) =>
    postJson(`${gateway.url}/v1/audio/speech`, headers, { ...HELLO, ...fields });

  it('with a balance for one: one is served, one refused (BILL-04, G-22)', async () => {
    const { accountId, headers } = await gateway.account(1199n);
    const answers = await Promise.all([speak(headers), speak(headers)]);
    expect([counted(answers, 200), counted(answers, 402)]).toEqual([1, 1]);
    expect(await gateway.balance(accountId)).toEqual({ available: 599n, held: 0n, entries: 2 });
  });

  it('with a balance for seven of twenty: seven are served, thirteen refused (BILL-12, G-29)', async () => {
    const { accountId, headers } = await gateway.account(7n * 600n);
    const before = await upstreamCalls(gateway);
    const answers = await Promise.all(Array.from({ length: 20 }, () => speak(headers)));
    expect([counted(answers, 200), counted(answers, 402)]).toEqual([7, 13]);
    expect((await upstreamCalls(gateway)) - before).toBe(7);
    expect(await gateway.balance(accountId)).toEqual({ available: 0n, held: 0n, entries: 8 });
  });

  it('a large one that is refused does not keep small ones out', async () => {
    const { accountId, headers } = await gateway.account(1_200n);
    const answers = await Promise.all([
      speak(headers, { input: 'x'.repeat(11) }),
      speak(headers),
      speak(headers),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual([402, 200, 200]);
    expect((await gateway.balance(accountId)).available).toBe(0n);
  });

  it('on one connection, one request after the other before any answer, are each charged', async () => {
    const { accountId, headers } = await gateway.account(2n * 600n + 599n);
    const body = JSON.stringify(HELLO);
    const head = [
      'POST /v1/audio/speech HTTP/1.1',
      `Host: ${new URL(gateway.url).host}`,
      `Authorization: ${headers.authorization}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ].join('\r\n');
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    const keptOpen = `${head}\r\n\r\n${body}`;
    socket.write(keptOpen + keptOpen + `${head}\r\nConnection: close\r\n\r\n${body}`);
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
    await once(socket, 'close');
    expect(received.match(/^HTTP\/1\.1 \d{3}/gm)).toEqual([
      'HTTP/1.1 200',
      'HTTP/1.1 200',
      'HTTP/1.1 402',
    ]);
    expect(await gateway.balance(accountId)).toEqual({ available: 599n, held: 0n, entries: 3 });
  });
});

describe('the ledger', () => {
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

  it.each(PRICED)('of a call to $path has one charge of its price (BILL-06)', async (row) => {
    const { accountId, headers } = await gateway.account(row.price + 1n);
    const before = await upstreamCalls(gateway);
    const answer = await postJson(gateway.url + row.path, headers, row.body(recordings.url));
    expect(answer.status).toBe(200);
    expect((await upstreamCalls(gateway)) - before).toBe(1);
    const entries = await send(
      `${gateway.url}/admin/accounts/acct_${accountId.replaceAll('-', '')}/ledger`,
      { headers: admin },
    );
    const [charge, ...rest] = (entries.json as { data: Record<string, unknown>[] }).data;
    expect(rest).toHaveLength(1);
    expect(charge).toMatchObject({
      kind: 'charge',
      amount_microusd: (-row.price).toString(),
      balance_after_microusd: '1',
      reference: answer.headers.get('x-gateway-execution-id'),
    });
  });

  it.each(PRICED)('is not touched by what $path refuses (BILL-17)', async (row) => {
    const { accountId, headers } = await gateway.account(row.price);
    const good = row.body(recordings.url);
    const calls = [
      () => postJson(gateway.url + row.path, headers, { ...good, foo: 1 }),
      () => postJson(gateway.url + row.path, headers, { ...good, model: 'no-such-model' }),
      () => postJson(gateway.url + row.path, headers, '{'),
      () => postJson(gateway.url + row.path, {}, good),
    ];
    for (const call of calls) {
      const before = await gateway.balance(accountId);
      const sent = await upstreamCalls(gateway);
      expect((await call()).status).toBeGreaterThanOrEqual(400);
      expect(await gateway.balance(accountId)).toEqual(before);
      expect(await upstreamCalls(gateway)).toBe(sent);
    }
  });

  it('adds up for every account, and nothing stays held (BILL-28)', async () => {
    const audit = await send(`${gateway.url}/admin/audit`, { headers: admin });
    expect(audit.json).toMatchObject({
      ok: true,
      held_microusd: '0',
      open_holds_microusd: '0',
      discrepancies: [],
    });
    const report = audit.json as { posted_microusd: string; entries_microusd: string };
    expect(report.posted_microusd).toBe(report.entries_microusd);
  });
});

describe('the unit price', () => {
  const spoken = (model: string) => ({ path: '/v1/audio/speech', body: { ...HELLO, model } });
  const said = (model: string) => ({
    path: '/v1/audio/dialogue',
    body: {
      model,
      inputs: [
        { text: 'Hel', voice: 'Adam' },
        { text: 'lo', voice: 'Alice' },
      ],
    },
  });
  it.each([
    { ...spoken('aud-v4'), price: 600n, row: 'BILL-18' },
    { ...spoken('aud-v3'), price: 600n, row: 'BILL-18' },
    { ...spoken('aud-multilingual-v2'), price: 600n, row: 'BILL-18' },
    { ...spoken('aud-flash-v2.5'), price: 300n, row: 'BILL-19' },
    { ...said('aud-v4-dialogue'), price: 600n, row: 'BILL-20' },
    { ...said('aud-v3-dialogue'), price: 600n, row: 'BILL-20' },
  ])('of $body.model is charged for five code points ($row)', async ({ path, body, price }) => {
    const { accountId, headers } = await gateway.account(price + 1n);
    expect((await postJson(gateway.url + path, headers, body)).status).toBe(200);
    expect((await gateway.balance(accountId)).available).toBe(1n);
  });

  it.each([
    ['/v1/audio/transcriptions', 1_196n, 'BILL-21'],
    ['/v1/audio/alignment', 1_196n, 'BILL-21'],
    ['/v1/audio/voice-changer', 39_000n, 'BILL-22'],
    ['/v1/audio/isolation', 39_000n, 'BILL-22'],
    ['/v1/audio/sound-effects', 3_000n, 'BILL-22'],
    ['/v1/audio/music', 11_250n, 'BILL-23'],
    ['/v1/images/generations', 10_000n, 'BILL-25'],
  ])('of %s is whole, %s micro-USD for the example (%s)', (path, price) => {
    expect(PRICED.find((row) => row.path === path)?.price).toBe(price);
  });
});
