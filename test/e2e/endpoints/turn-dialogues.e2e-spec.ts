import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN, AdminHarness } from '../../support/admin-harness.js';
import { audioSeconds } from '../../support/audio-seconds.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { overlay } from '../../support/overlay-file.js';
import { expectRefused } from '../../support/refusal.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';

const VOICES = { Coral: 'coral', Onyx: 'onyx' };
const route = (provider: string, upstreamModel: string, microUsd: number) => ({
  provider,
  upstream_model: upstreamModel,
  cost: { unit: 'code_point', micro_usd: microUsd },
});
const row = (id: string, routes: readonly object[], voices: object) => ({
  id,
  operation: 'dialogue',
  routes,
  voices,
  price: { unit: 'code_point', micro_usd: 20 },
  limits: { max_input: 100, max_voices: 2 },
});
const catalogFor = (openai: string, minimax: string) =>
  overlay({
    models: [
      row('aud-coral-dialogue', [route('speaker', 'gpt-4o-mini-tts', 15)], VOICES),
      row('aud-lady-dialogue', [route('minimax', 'speech-2.8-hd', 100)], {
        Lady: 'lady',
        Man: 'man',
      }),
      row(
        'aud-both-dialogue',
        [route('speaker', 'gpt-4o-mini-tts', 15), route('minimax', 'speech-2.8-hd', 100)],
        VOICES,
      ),
    ],
    providers: [
      { id: 'speaker', protocol: 'openai', base_url: openai, api_key_env: '' },
      { id: 'minimax', protocol: 'minimax', base_url: minimax, api_key_env: '' },
    ],
  });

/** A line and the seconds that a vendor speaks it. */
const LINES = [
  { text: 'Who is there?', seconds: 0.5 },
  { text: 'It is me.', seconds: 0.75 },
  { text: 'Come in.', seconds: 1.25 },
] as const;
const SECONDS = 2.5;
/** Thirty code points at 20 micro-USD. */
const PRICE = '600';
/** A second of a tone of 200 Hz: no sample of the file is further from the next one than those of the tone are. */
const tone = Buffer.alloc(48_000);
for (let at = 0; at < 24_000; at += 1)
  tone.writeInt16LE(Math.round(8_000 * Math.sin((2 * Math.PI * at) / 120)), 2 * at);
const spoken = (body: Buffer): Buffer => {
  const line = LINES.find(({ text }) => body.includes(text));
  return Buffer.concat([tone, tone]).subarray(0, 48_000 * (line?.seconds ?? 1));
};

let openai: StubUpstream;
let minimax: StubUpstream;
let gateway: TestGateway;
let account: TestAccount;
let admin: AdminHarness;

beforeAll(async () => {
  [openai, minimax] = await Promise.all([StubUpstream.start(), StubUpstream.start()]);
  gateway = await startTestGateway({ CATALOG_FILE: catalogFor(openai.url, minimax.url) });
  admin = await AdminHarness.start(gateway);
});
afterAll(async () => {
  await admin.stop();
  await Promise.all([openai.stop(), minimax.stop()]);
});
beforeEach(async () => {
  account = await gateway.account();
  openai.seen.length = 0;
  minimax.seen.length = 0;
  openai.reply = (response, { body }) => response.end(spoken(body));
  minimax.reply = (response, { body }) => {
    const base = { base_resp: { status_code: 0, status_msg: '' } };
    const eventOf = (fields: object) => `data: ${JSON.stringify({ ...base, ...fields })}\n\n`;
    const audio = spoken(body).toString('hex');
    const extra = { audio_sample_rate: 24_000, usage_characters: 10 };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      eventOf({ data: { audio, status: 1 } }) + eventOf({ data: { status: 2 }, extra_info: extra }),
    );
  };
});

const bodyOf = (model: string, [one, other]: readonly [string, string], fields: object = {}) => ({
  model,
  inputs: LINES.map(({ text }, at) => ({ text, voice: at === 1 ? other : one })),
  ...fields,
});
const speak = (body: object, headers: object = {}, signal?: AbortSignal) =>
  send(`${gateway.url}/v1/audio/dialogue`, {
    method: 'POST',
    headers: { ...account.headers, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
const CORAL = ['Coral', 'Onyx'] as const;
const readTask = async (id: string) =>
  (await send(`${gateway.url}/v1/tasks/${id}`, { headers: account.headers })).json as {
    status: string;
  };

async function lastRecord(): Promise<Record<string, unknown>> {
  let record: Record<string, unknown> | undefined;
  await until(async () => {
    const path = `/executions?account_id=acct_${account.accountId.replaceAll('-', '')}&limit=1`;
    [record] = (await admin.list(path)).data;
    return record !== undefined && record.status !== 'running';
  });
  return (await admin.get(`/executions/${String(record?.id)}`, ADMIN)).json as Record<
    string,
    unknown
  >;
}

describe.each([
  ['aud-coral-dialogue', CORAL, () => openai],
  ['aud-lady-dialogue', ['Lady', 'Man'] as const, () => minimax],
] as const)('a dialogue of %s, whose vendor has speech alone', (model, voices, vendor) => {
  it.each(['mp3', 'opus', 'pcm', 'wav'] as const)(
    'is one file of %s as long as its lines, for one charge by their characters (G-114)',
    async (format) => {
      const before = await gateway.balance(account.accountId);
      const answer = await speak(bodyOf(model, voices, { response_format: format }));
      // Encoders of MP3 and Opus pad their first and last frames.
      const exact = format === 'pcm' || format === 'wav';
      const difference = Math.abs(audioSeconds(answer, format) - SECONDS);
      expect(difference).toBeLessThanOrEqual(exact ? 0 : 0.1);
      expect(answer.headers.get('x-gateway-charge-microusd')).toBe(PRICE);
      const after = await gateway.balance(account.accountId);
      expect(before.available - after.available).toBe(BigInt(PRICE));
      expect(after).toMatchObject({ held: 0n, entries: before.entries + 1 });
      expect(vendor().seen).toHaveLength(LINES.length);
    },
  );

  it('has no gap and no click where a line ends', async () => {
    const { bytes } = await speak(bodyOf(model, voices, { response_format: 'pcm' }));
    const sampleAt = (at: number): number => bytes.readInt16LE(2 * at);
    const steps = Array.from({ length: bytes.length / 2 - 1 }, (_, at) =>
      Math.abs(sampleAt(at + 1) - sampleAt(at)),
    );
    const ofTone = Math.ceil(8_000 * Math.sin((2 * Math.PI) / 120)) + 1;
    expect(Math.max(...steps)).toBeLessThanOrEqual(ofTone);
    const joint = 24_000 * LINES[0].seconds;
    expect(new Set([joint - 2, joint, joint + 2].map(sampleAt)).size).toBe(3);
  });

  it('lists its own voices, and takes no other', async () => {
    const url = `${gateway.url}/v1/voices?model=${model}`;
    const { json } = await send(url, { headers: account.headers });
    expect((json as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual([...voices]);
    const refusal = { status: 400, code: 'invalid_request', param: 'inputs.1.voice' };
    const asked = () => speak(bodyOf(model, [voices[0], 'Adam']));
    await expectRefused(gateway, account.accountId, asked, refusal);
    expect(vendor().seen).toHaveLength(0);
  });

  it('may be a task', async () => {
    const answer = await speak(bodyOf(model, voices), { prefer: 'respond-async' });
    expect(answer.status).toBe(202);
    const { id } = answer.json as { id: string };
    await until(async () => !/queued|processing/.test((await readTask(id)).status));
    expect(await readTask(id)).toMatchObject({ status: 'succeeded', charged_microusd: PRICE });
    const file = await send(`${gateway.url}/v1/tasks/${id}/content`, { headers: account.headers });
    expect(Math.abs(audioSeconds(file) - SECONDS)).toBeLessThan(0.1);
  });
});

describe('a dialogue of turns that fails', () => {
  const model = 'aud-both-dialogue';
  /** The first line, and what it costs. */
  const SERVED = {
    uncharged: { unit: 'code_point', quantity: LINES[0].text.length },
    cost_microusd: String(15 * LINES[0].text.length),
  };
  /** The second line is refused once the first was served. */
  const refuseSecond = (status = 429, refusal = ''): void => {
    let isServed = false;
    openai.reply = async (response, { body }) => {
      if (body.includes(LINES[0].text)) {
        response.on('close', () => (isServed = true));
        return response.end(spoken(body));
      }
      await until(() => isServed);
      await sleep(50);
      if (body.includes(LINES[1].text)) response.writeHead(status).end(refusal);
      return undefined;
    };
  };

  it('is free, costs what was served, and is made again neither by another route nor by a client (G-114)', async () => {
    refuseSecond();
    const before = await gateway.balance(account.accountId);
    const answer = await speak(bodyOf(model, CORAL));
    expect([answer.status, errorOf(answer).code]).toEqual([429, 'provider_rate_limited']);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(answer.headers.get('retry-after')).toBeNull();
    expect(await gateway.balance(account.accountId)).toEqual(before);
    expect(minimax.seen).toHaveLength(0);
    expect(await lastRecord()).toMatchObject({
      status: 'failed',
      charged_microusd: null,
      ...SERVED,
    });
  });

  it('is made by another route where its first line was refused', async () => {
    openai.reply = (response) => response.writeHead(429).end();
    const answer = await speak(bodyOf(model, CORAL));
    expect(audioSeconds(answer)).toBeCloseTo(SECONDS, 0);
    expect([openai.seen.length, minimax.seen.length]).toEqual([1, LINES.length]);
    expect(await lastRecord()).toMatchObject({ status: 'succeeded', cost_microusd: '3000' });
  });

  it.each<[number, object, string]>([
    [429, {}, 'The provider gave no answer that can be used.'],
    [400, { error: { code: 'invalid_value' } }, 'The provider refused the task: invalid_value.'],
    [500, { error: { code: 'server_error' } }, 'The provider refused the task: server_error.'],
  ])('as a task is free, costs what was served, and is not sent again: %d', async (...refusal) => {
    const [status, body, message] = refusal;
    refuseSecond(status, JSON.stringify(body));
    const { available } = await gateway.balance(account.accountId);
    const answer = await speak(bodyOf('aud-coral-dialogue', CORAL), { prefer: 'respond-async' });
    const { id } = answer.json as { id: string };
    await until(async () => (await readTask(id)).status === 'failed');
    expect(await readTask(id)).toMatchObject({ charged_microusd: null, error: { message } });
    expect(await gateway.balance(account.accountId)).toMatchObject({ available, held: 0n });
    expect((await admin.get(`/tasks/${id}`)).json).toMatchObject(SERVED);
    expect(openai.seen.length).toBeLessThanOrEqual(LINES.length);
  });
});

it('a dialogue of turns whose caller leaves is made whole and charged (G-25)', async () => {
  const before = await gateway.balance(account.accountId);
  let answerFirst = (): unknown => undefined;
  const usual = openai.reply;
  openai.reply = (response, request) => {
    if (!request.body.includes(LINES[0].text)) return usual(response, request);
    return (answerFirst = () => response.end(spoken(request.body)));
  };
  const leaving = new AbortController();
  const body = bodyOf('aud-coral-dialogue', CORAL);
  const left = expect(speak(body, {}, leaving.signal)).rejects.toThrow();
  await until(() => openai.seen.length === 1);
  leaving.abort();
  await left;
  answerFirst();
  expect(await lastRecord()).toMatchObject({ status: 'succeeded', charged_microusd: PRICE });
  expect(openai.seen).toHaveLength(LINES.length);
  const after = await gateway.balance(account.accountId);
  expect(before.available - after.available).toBe(BigInt(PRICE));
});

it('a quote of a dialogue of turns is what it costs', async () => {
  const answer = await postJson(`${gateway.url}/v1/quotes`, account.headers, {
    path: '/v1/audio/dialogue',
    body: bodyOf('aud-coral-dialogue', CORAL),
  });
  expect(JSON.stringify(answer.json)).toContain(`"${PRICE}"`);
});
