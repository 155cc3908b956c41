import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { NoEncodingRoom, roomToEncode } from '../../../src/platform/audio/audio-encoding.js';
import { audioSeconds } from '../../support/audio-seconds.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { send } from '../../support/http-answer.js';
import { overlay } from '../../support/overlay-file.js';
import { expectRefused } from '../../support/refusal.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';

const TEXT = 'Is anybody in?';
const PRICE = String(20 * TEXT.length);
const second = Buffer.alloc(48_000);

const row = (operation: string, upstreamModel: string, limits: object) => ({
  id: `aud-lady-${operation}`,
  operation,
  routes: [{ provider: 'minimax', upstream_model: upstreamModel }],
  voices: { Lady: 'lady', Man: 'man' },
  price: { unit: 'code_point', micro_usd: 20 },
  limits,
});
const catalogFor = (url: string) =>
  overlay({
    models: [
      row('speech', 'speech-2.8-hd', { max_input: 100 }),
      row('dialogue', 'speech-2.8-hd', { max_input: 100, max_voices: 2 }),
    ],
    providers: [{ id: 'minimax', protocol: 'minimax', base_url: url, api_key_env: '' }],
  });

let minimax: StubUpstream;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  minimax = await StubUpstream.start();
  gateway = await startTestGateway({ CATALOG_FILE: catalogFor(minimax.url) });
});
afterAll(() => minimax.stop());
beforeEach(async () => {
  account = await gateway.account();
  minimax.seen.length = 0;
  minimax.reply = (response) => {
    const eventOf = (data: object) =>
      `data: ${JSON.stringify({ base_resp: { status_code: 0, status_msg: '' }, data })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(eventOf({ audio: second.toString('hex'), status: 1 }) + eventOf({ status: 2 }));
  };
});

const post = (path: string, body: object, headers: object = {}) =>
  send(`${gateway.url}/v1/audio/${path}`, {
    method: 'POST',
    headers: { ...account.headers, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const speech = (format: string) => ({
  model: 'aud-lady-speech',
  input: TEXT,
  voice: 'Lady',
  response_format: format,
});
const dialogue = {
  model: 'aud-lady-dialogue',
  inputs: ['Lady', 'Man'].map((voice) => ({ text: TEXT, voice })),
};

describe('while calls have all the room to encode, whose audio is not made yet', () => {
  let taken: Disposable[] = [];
  const giveRoom = (): void => {
    for (const room of taken) room[Symbol.dispose]();
    taken = [];
  };
  const takeAll = (): void => {
    for (;;) taken.push(roomToEncode(`account ${taken.length % 10}`));
  };
  beforeEach(() => {
    expect(takeAll).toThrow(NoEncodingRoom);
    expect(taken.length).toBeGreaterThan(100);
  });
  afterEach(giveRoom);

  it.each([
    ['speech', 'opus', speech('opus')],
    ['dialogue', 'mp3', dialogue],
  ] as const)(
    '%s as %s is refused before anything is made, and free',
    async (path, format, body) => {
      const refusal = { status: 503, code: 'provider_unavailable', param: null };
      await expectRefused(gateway, account.accountId, () => post(path, body), refusal);
      expect(minimax.seen).toHaveLength(0);
      giveRoom();
      expect(audioSeconds(await post(path, body), format)).toBeGreaterThan(0.9);
    },
  );

  it.each(['mp3', 'wav', 'pcm'])('speech as %s needs none', async (format) => {
    const answer = await post('speech', speech(format));
    expect(minimax.seen).toHaveLength(1);
    // The stub makes samples alone, so its MP3 is none.
    expect(answer.status).toBe(format === 'mp3' ? 502 : 200);
  });

  it('a task waits for it', async () => {
    const answer = await post('speech', speech('opus'), { prefer: 'respond-async' });
    const { id } = answer.json as { id: string };
    const putOffs = async () => {
      const [work] = await gateway.dataSource.query<{ put_offs: number }[]>(
        'SELECT put_offs FROM task_work WHERE account_id = $1',
        [account.accountId],
      );
      return work?.put_offs ?? 0;
    };
    await until(async () => (await putOffs()) > 0);
    expect(minimax.seen).toHaveLength(0);
    giveRoom();
    const read = async () =>
      (await send(`${gateway.url}/v1/tasks/${id}`, { headers: account.headers })).json as object;
    await until(async () => !/queued|processing/.test(JSON.stringify(await read())));
    expect(await read()).toMatchObject({ status: 'succeeded', charged_microusd: PRICE });
    expect(minimax.seen).toHaveLength(1);
  });

  it('is given back by calls for which the vendor makes nothing', async () => {
    const all = taken.length;
    giveRoom();
    minimax.reply = (response) => response.writeHead(500).end('{}');
    await Promise.all(Array.from({ length: 20 }, () => post('speech', speech('opus'))));
    expect(minimax.seen.length).toBeGreaterThan(0);
    expect(takeAll).toThrow(NoEncodingRoom);
    expect(taken).toHaveLength(all);
  });
});
