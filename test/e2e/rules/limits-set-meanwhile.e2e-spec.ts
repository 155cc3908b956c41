import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';

/** The price of a spoken `Hello`. */
const PRICE = 600n;
/** The counter of a new limit begins after three seconds. */
const UNTIL_COUNTED_MS = 3_500;
const VIDEO = { model: 'vid-motion', prompt: 'a cat', seconds: '5', aspect_ratio: '16:9' };
const VIDEO_PRICE = 250_000n;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

async function setLimit(accountId: string, limit: bigint): Promise<void> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const path = `${gateway.url}/admin/accounts/${toPublicId('acct', accountId)}/keys`;
  const { data } = (await send(path, { headers })).json as { data: { id: string }[] };
  const answer = await send(`${gateway.url}/admin/keys/${data[0]?.id ?? ''}`, {
    method: 'PATCH',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ spend_limit_microusd: limit.toString(), spend_limit_period: 'total' }),
  });
  expect(answer.status).toBe(200);
}

/** The request is admitted with its first byte; the others come when `meanwhile` is over. */
async function sendSlowly(key: string, path: string, body: object, meanwhile: Promise<unknown>) {
  const bytes = Buffer.from(JSON.stringify(body));
  const sent = request(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': bytes.length,
    },
  });
  const answered = once(sent, 'response');
  sent.write(bytes.subarray(0, 1));
  const ended = meanwhile.then(() => sent.end(bytes.subarray(1)));
  const [[answer]] = (await Promise.all([answered, ended])) as [[IncomingMessage], unknown];
  return { status: answer.statusCode, body: await text(answer) };
}

const CALLS: readonly [string, string, object, bigint][] = [
  ['a call', '/v1/audio/speech', HELLO, PRICE],
  ['a task', '/v1/videos', VIDEO, VIDEO_PRICE],
];

describe('a spend limit that is set while a request is sent (G-99)', () => {
  const speak = (key: string) =>
    postJson(`${gateway.url}/v1/audio/speech`, { authorization: `Bearer ${key}` }, HELLO);

  /** The key has no limit when the request begins; its counter runs when the request ends. */
  async function meanwhile(path: string, body: object, limit: bigint) {
    const { key, accountId } = await gateway.account();
    expect((await speak(key)).status).toBe(200);
    const counted = (async () => {
      await sleep(200);
      await setLimit(accountId, limit);
      await sleep(UNTIL_COUNTED_MS);
      expect((await speak(key)).status).toBe(200);
    })();
    return { key, answer: await sendSlowly(key, path, body, counted) };
  }

  it.each(CALLS)('counts %s', async (_, path, body, price) => {
    const { key, answer } = await meanwhile(path, body, 2n * PRICE + price);
    expect(answer.status).toBe(200);
    expect((await speak(key)).status).toBe(402);
  });

  it.each(CALLS)('refuses %s that costs more than is left', async (_, path, body, price) => {
    const { answer } = await meanwhile(path, body, 2n * PRICE + price - 1n);
    expect(answer).toMatchObject({
      status: 402,
      body: expect.stringContaining('is left of what the key'),
    });
  });
});
