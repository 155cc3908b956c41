import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN } from '../../support/admin-harness.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { StubUpstream } from '../../support/stub-upstream.js';

const CHAT = { model: 'gen-5', messages: [{ role: 'user', content: 'Hi' }] };
const IMAGE = { model: 'gen-image-2', prompt: 'a cat' };
const VIDEO = { model: 'vid-omni', prompt: 'a cat', seconds: '10', size: '1280x720' };
const SONG = { model: 'tune-music', prompt: 'a waltz' };
const DUB = { model: 'aud-dubbing-v1', source_url: 'https://a.example/a', target_language: 'fr' };
const PLAY_REFUSAL = 'Play money buys sandbox work only; make an account with `account:create`.';
const REAL_REFUSAL =
  'Real money does not buy sandbox work; make an account with `account:create --play-money`.';

let upstream: StubUpstream;
beforeAll(async () => {
  upstream = await StubUpstream.start();
});
afterEach(() => {
  upstream.seen.length = 0;
});
afterAll(() => upstream.stop());

interface Customer {
  readonly id: string;
  readonly headers: { authorization: string };
  readonly hasPlayMoney: boolean;
}

/** An account that an operator makes over the API. */
async function customer(gateway: TestGateway, terms: object = {}): Promise<Customer> {
  const made = async (path: string, body: object) => {
    const headers = { ...ADMIN, 'idempotency-key': 'first' };
    return (await postJson(`${gateway.url}/admin${path}`, headers, body)).json as {
      id: string;
      key: string;
      play_money: boolean;
    };
  };
  const { id, play_money: hasPlayMoney } = await made('/accounts', { name: 'a', ...terms });
  await made(`/accounts/${id}/credits`, { amount_microusd: '10000000' });
  const { key } = await made(`/accounts/${id}/keys`, {});
  return { id, hasPlayMoney, headers: { authorization: `Bearer ${key}` } };
}

const balance = async (gateway: TestGateway, { headers }: Customer) =>
  (await send(`${gateway.url}/v1/account`, { headers })).json;

describe('a gateway with a provider for chat and images, whose sandbox serves the rest', () => {
  let gateway: TestGateway;
  let real: Customer;
  let play: Customer;

  beforeAll(async () => {
    gateway = await startTestGateway({
      OPENAI_API_KEY: 'a-real-key',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      SANDBOX_CHARGES: 'off',
    });
    real = await customer(gateway);
    play = await customer(gateway, { play_money: true });
  });
  afterAll(async () => {
    await gateway.expectCleanBooks();
    await gateway.stop();
  });

  it('makes accounts of real money unless the operator says otherwise (G-110)', async () => {
    expect([real.hasPlayMoney, play.hasPlayMoney]).toEqual([false, true]);
    const shown = await send(`${gateway.url}/admin/accounts/${play.id}`, { headers: ADMIN });
    expect(shown.json).toMatchObject({ play_money: true });
  });

  it.each([
    ['/v1/chat/completions', CHAT],
    ['/v1/chat/completions', { ...CHAT, stream: true }],
    ['/v1/images/generations', IMAGE],
  ])('play money buys no real work at %s: 402 before any hold (G-95)', async (path, body) => {
    const before = await balance(gateway, play);
    const answer = await postJson(gateway.url + path, play.headers, body);
    expect(answer.status).toBe(402);
    expect(errorOf(answer)).toMatchObject({
      code: 'insufficient_user_quota',
      type: 'insufficient_quota',
      message: PLAY_REFUSAL,
    });
    expect(await balance(gateway, play)).toEqual(before);
    expect(upstream.seen).toEqual([]);
  });

  it.each([
    ['/v1/audio/speech', HELLO, 'insufficient_funds'],
    ['/v1/audio/dubbing', DUB, 'insufficient_funds'],
    ['/v1/videos', VIDEO, 'insufficient_user_quota'],
    ['/v1/music/generations', SONG, 'insufficient_funds'],
  ])(
    'real money buys no sandbox work at %s: 402 before any hold (G-110)',
    async (path, body, code) => {
      const before = await balance(gateway, real);
      const answer = await postJson(gateway.url + path, real.headers, body);
      expect([answer.status, errorOf(answer).code, errorOf(answer).message]).toEqual([
        402,
        code,
        REAL_REFUSAL,
      ]);
      expect(answer.headers.get('x-gateway-sandbox')).toBeNull();
      expect(await balance(gateway, real)).toEqual(before);
      expect(await gateway.upstreamRequests()).toEqual([]);
    },
  );

  it('play money buys what the sandbox serves, and real money the work of the provider (G-95)', async () => {
    const speech = await postJson(`${gateway.url}/v1/audio/speech`, play.headers, HELLO);
    expect([speech.status, speech.headers.get('x-gateway-sandbox')]).toEqual([200, 'true']);
    expect(await balance(gateway, play)).toMatchObject({ available_microusd: '9999400' });
    upstream.reply = (response) => response.writeHead(400).end('{}');
    const chat = await postJson(`${gateway.url}/v1/chat/completions`, real.headers, CHAT);
    expect(errorOf(chat).code).toBe('provider_rejected_request');
    expect(chat.headers.get('x-gateway-sandbox')).toBeNull();
  });
});

it('with SANDBOX_CHARGES=on real money buys the work of the sandbox (G-110)', async () => {
  const gateway = await startTestGateway({
    OPENAI_API_KEY: 'a-real-key',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    SANDBOX_CHARGES: 'on',
  });
  const { hasPlayMoney, headers } = await customer(gateway);
  const answer = await postJson(`${gateway.url}/v1/audio/speech`, headers, HELLO);
  expect([hasPlayMoney, answer.status]).toEqual([false, 200]);
  await gateway.stop();
});

describe('a gateway whose sandbox serves every provider', () => {
  let gateway: TestGateway;
  let play: Customer;
  const ask = (path: string, body: object) => postJson(gateway.url + path, play.headers, body);

  beforeAll(async () => {
    gateway = await startTestGateway();
    play = await customer(gateway);
  });
  afterAll(async () => {
    await gateway.expectCleanBooks();
    await gateway.stop();
  });

  it('makes accounts of play money unless the operator says otherwise', async () => {
    const real = await customer(gateway, { play_money: false });
    expect([play.hasPlayMoney, real.hasPlayMoney]).toEqual([true, false]);
    const answer = await postJson(`${gateway.url}/v1/chat/completions`, real.headers, CHAT);
    expect([answer.status, errorOf(answer).message]).toEqual([402, REAL_REFUSAL]);
  });

  it.each([
    ['a call', '/v1/audio/speech', HELLO, 200],
    ['a stream', '/v1/chat/completions', { ...CHAT, stream: true }, 200],
    [
      'a refusal of the provider',
      '/v1/audio/speech',
      { ...HELLO, input: '[[sandbox:status=400]]' },
      400,
    ],
    [
      'a stream that fails before its first chunk',
      '/v1/chat/completions',
      { ...CHAT, stream: true, messages: [{ role: 'user', content: '[[sandbox:status=500]]' }] },
      502,
    ],
    ['the submission of a song', '/v1/music/generations', SONG, 202],
    ['the submission of a video', '/v1/videos', VIDEO, 200],
  ])('the answer says that the sandbox made it: %s (G-110)', async (_what, path, body, status) => {
    const answer = await ask(path, body);
    expect([answer.status, answer.headers.get('x-gateway-sandbox')]).toEqual([status, 'true']);
  });

  it('what is read of a task says so too, and a refusal of the gateway does not', async () => {
    const id = (await ask('/v1/videos', VIDEO)).headers.get('x-gateway-task-id') ?? '';
    const headers = { ...play.headers, prefer: 'wait=30' };
    const ofTask = [`/v1/videos/${id}`, `/v1/tasks/${id}`, `/v1/videos/${id}/content`];
    for (const path of [...ofTask, '/sandbox/media/recording.mp3']) {
      const answer = await send(gateway.url + path, { headers });
      expect([answer.status, answer.headers.get('x-gateway-sandbox')]).toEqual([200, 'true']);
    }
    const refused = await ask('/v1/audio/speech', { ...HELLO, voice: 'nobody' });
    expect([refused.status, refused.headers.get('x-gateway-sandbox')]).toEqual([400, null]);
  });
});
