import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { KeyExpiryEvents } from '../../../src/webhooks/endpoints/key-expiry-events.js';
import { EVENT_TYPES } from '../../../src/webhooks/endpoints/event-type.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { BRISK } from '../../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

/** What a call of {@link HELLO} costs. */
const PRICE = 600n;
const SECRET = 'a-secret-of-16-or-more';
const TOPUP_URL = 'https://shop.example/top-up/{account}';

interface Told {
  readonly object: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

let receiver: WebhookReceiver;
let gateway: TestGateway;
let account: TestAccount;
let headers: Record<string, string>;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  gateway = await startTestGateway({ ...BRISK, ...receiver.settings, TOPUP_URL });
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});
beforeEach(async () => {
  receiver.received.length = 0;
  account = await gateway.account(1_000_000n, { scopes: ['read', 'call', 'manage'] });
  ({ headers } = account);
});

/** The events that docs/guides/webhooks.md shows. */
const samples = [
  ...readFileSync('docs/guides/webhooks.md', 'utf8').matchAll(/```json\n([^]*?)\n```/g),
]
  .map(([, text = '']) => JSON.parse(text) as Told)
  .filter(({ object }) => object === 'event');

const ofType = (type: string, field?: string): Told[] =>
  samples.filter((told) => told.type === type && (field === undefined || field in told.data));
const post = (path: string, body: object, more: Record<string, string> = {}) =>
  postJson(`${gateway.url}${path}`, { ...headers, ...more }, body);
const speak = (more?: Record<string, string>) => post('/v1/audio/speech', HELLO, more);
const have = async (type: string) => {
  const endpoint = { url: receiver.url, secret: SECRET, events: [type] };
  expect((await post('/v1/webhook-endpoints', endpoint)).status).toBe(201);
};
async function mark(amount: bigint): Promise<void> {
  const init = {
    method: 'PATCH',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ low_balance_microusd: amount.toString() }),
  };
  expect((await fetch(`${gateway.url}/v1/account`, init)).status).toBe(200);
}

/** Fields and the kinds of their values, of the event and of its data. */
const shapeOf = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]));
};

async function expectTold(sample: Told | undefined): Promise<Told> {
  const [delivery] = await receiver.until(1);
  const told = JSON.parse(String(delivery?.body)) as Told;
  expect(shapeOf(told)).toEqual(shapeOf(sample));
  expect(Object.keys(told)).toEqual(Object.keys(sample ?? {}));
  expect(told.type).toBe(sample?.type);
  return told;
}

describe('the events that docs/guides/webhooks.md shows', () => {
  it('are of every type, and have ids and kinds of values as they are told', () => {
    expect([...new Set(samples.map(({ type }) => type))]).toEqual(EVENT_TYPES);
  });

  it('are told as they are shown: balance.low', async () => {
    await have('balance.low');
    await mark(1_000_000n);
    await speak();
    await expectTold(ofType('balance.low')[0]);
  });

  it('are told as they are shown: balance.depleted', async () => {
    const poor = await gateway.account(PRICE - 1n, { scopes: ['call', 'manage'] });
    ({ headers } = poor);
    await have('balance.depleted');
    expect((await speak()).status).toBe(402);
    await expectTold(ofType('balance.depleted')[0]);
  });

  it('are told as they are shown: limit.reached of a key', async () => {
    const terms = { spend_limit_microusd: '750', spend_limit_period: 'month' };
    await have('limit.reached');
    const made = (await post('/v1/keys', terms)).json as { key: string };
    headers = { authorization: `Bearer ${made.key}` };
    expect((await speak()).status).toBe(200);
    const { data } = await expectTold(ofType('limit.reached', 'key_id')[0]);
    expect(data).toMatchObject({ percent: 80, spent_microusd: '600' });
  });

  it('are told as they are shown: limit.reached of a run', async () => {
    await have('limit.reached');
    const run = { 'x-gateway-run': 'build-42', 'x-gateway-run-limit-microusd': '600' };
    expect((await speak(run)).status).toBe(200);
    const { data } = await expectTold(ofType('limit.reached', 'run')[0]);
    expect(data).toMatchObject({ run: 'build-42', percent: 100 });
  });

  it('are told as they are shown: key.expiring', async () => {
    await have('key.expiring');
    await gateway.keyOf(account.accountId, { name: 'production' });
    await gateway.dataSource.query(
      `UPDATE api_key SET created_at = now() - interval '30 days', expires_at = now() + interval '6 days'
        WHERE account_id = $1 AND name = 'production'`,
      [account.accountId],
    );
    await gateway.app.get(KeyExpiryEvents, { strict: false }).tick();
    await expectTold(ofType('key.expiring')[0]);
  });

  it.each([
    ['task.finished', 'A song'],
    ['task.unknown', 'A song [[sandbox:no-result]]'],
  ])('are told as they are shown: %s', async (type, prompt) => {
    await have(type);
    expect((await post('/v1/music/generations', { model: 'song-music', prompt })).status).toBe(202);
    const { data } = await expectTold(ofType(type)[0]);
    const { status, endpoint, model } = ofType(type)[0]?.data ?? {};
    expect(data).toMatchObject({ status, endpoint, model });
  });
});
