import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fromPublicId, toPublicId } from '../../../src/common/ids/public-id.js';
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestAccount,
  type TestGateway,
} from '../../support/gateway.js';
import { type Answer, errorOf, postJson } from '../../support/http-answer.js';
import { until } from '../../support/until.js';

/** `user` may carry magic inputs, which are no part of a prompt. */
interface Endpoint {
  readonly path: string;
  readonly body: (words?: string) => Readonly<Record<string, unknown>>;
  /** Another body. */
  readonly other: object;
}

const says = (words: string) => [{ role: 'user', content: `Why is the sky blue? ${words}` }];
const chat = (words = '') => ({ model: 'gen-5-mini', messages: says(words) });
const message = (words = '') => ({ model: 'gen-5-mini', max_tokens: 60, messages: says(words) });
const respond = (words = '') => ({ model: 'gen-5-mini', input: `Why is the sky blue? ${words}` });
const stream = { stream: true };
const ENDPOINTS: readonly (readonly [name: string, endpoint: Endpoint])[] = [
  ['chat', { path: '/v1/chat/completions', body: chat, other: { max_tokens: 9 } }],
  [
    'a chat stream',
    {
      path: '/v1/chat/completions',
      body: (words) => ({ ...chat(words), ...stream, stream_options: { include_usage: true } }),
      other: { max_tokens: 9 },
    },
  ],
  ['a response', { path: '/v1/responses', body: respond, other: { max_output_tokens: 20 } }],
  [
    'a stream of a response',
    {
      path: '/v1/responses',
      body: (words) => ({ ...respond(words), ...stream }),
      other: { max_output_tokens: 20 },
    },
  ],
  ['a message', { path: '/v1/messages', body: message, other: { max_tokens: 61 } }],
  [
    'a stream of a message',
    {
      path: '/v1/messages',
      body: (words) => ({ ...message(words), ...stream }),
      other: { max_tokens: 61 },
    },
  ],
  [
    'embeddings',
    {
      path: '/v1/embeddings',
      body: (words = '') => ({ model: 'gen-embed-demo', input: [`A tower ${words}`] }),
      other: { dimensions: 16 },
    },
  ],
  [
    'an image',
    {
      path: '/v1/images/generations',
      body: (words = '') => ({ model: 'gen-image-2', prompt: `A lighthouse ${words}` }),
      other: { size: '1024x1024' },
    },
  ],
];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

function post(
  who: TestAccount,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return postJson(gateway.url + path, { ...who.headers, ...headers }, body);
}

const keyed = (key: string) => ({ 'idempotency-key': key });
const executionOf = (answer: Answer) => answer.headers.get('x-gateway-execution-id') ?? '';
/** Entries of the account besides its credit. */
const chargesOf = async (who: TestAccount) => (await gateway.balance(who.accountId)).entries - 1;

/** What a replay has of the first answer. */
const told = (answer: Answer) => ({
  status: answer.status,
  text: answer.bytes.toString(),
  type: answer.headers.get('content-type'),
  charge: answer.headers.get('x-gateway-charge-microusd'),
  id: executionOf(answer),
  sandbox: answer.headers.get('x-gateway-sandbox'),
});

describe.each(ENDPOINTS)('an Idempotency-Key of %s', (_name, { path, body, other }) => {
  it('gets the same answer again, and pays once (G-48)', async () => {
    const who = await gateway.account();
    const first = await post(who, path, body(), keyed('again'));
    expect(first.status === 200 ? '' : first.bytes.toString()).toBe('');
    expect(first.headers.get('x-gateway-replayed')).toBeNull();
    const replay = await post(who, path, body(), keyed('again'));
    expect(told(replay)).toEqual(told(first));
    expect(replay.headers.get('x-gateway-replayed')).toBe('true');
    expect(replay.headers.get('x-request-id')).toBe(executionOf(first));
    expect(await chargesOf(who)).toBe(1);
  });

  it('makes one call of many at once, and all get its answer (G-86)', async () => {
    const who = await gateway.account();
    const words = '[[sandbox:delay=300]]';
    const all = await Promise.all(
      Array.from({ length: 6 }, () => post(who, path, body(words), keyed('at once'))),
    );
    expect(new Set(all.map((answer) => JSON.stringify(told(answer)))).size).toBe(1);
    expect(all[0]?.status).toBe(200);
    const replays = all.filter(({ headers }) => headers.get('x-gateway-replayed') === 'true');
    expect(replays).toHaveLength(5);
    expect(await chargesOf(who)).toBe(1);
  });

  it('is refused with another body, and is free for another account, key and endpoint', async () => {
    const who = await gateway.account();
    const first = await post(who, path, body(), keyed('mine'));
    expect(first.status).toBe(200);
    const refused = await post(who, path, { ...body(), ...other }, keyed('mine'));
    expect([refused.status, errorOf(refused)]).toMatchObject([
      409,
      path === '/v1/messages'
        ? { type: 'api_error' }
        : { code: 'idempotency_conflict', param: 'Idempotency-Key' },
    ]);
    const elsewhere = path === '/v1/embeddings' ? '/v1/responses' : '/v1/embeddings';
    const [, free] = ENDPOINTS.find(([, one]) => one.path === elsewhere)!;
    const ids = new Set([executionOf(first)]);
    ids.add(executionOf(await post(who, path, body(), keyed('second'))));
    ids.add(executionOf(await post(who, free.path, free.body(), keyed('mine'))));
    expect([ids.size, await chargesOf(who)]).toEqual([3, 3]);
    const answer = await post(await gateway.account(), path, body(), keyed('mine'));
    expect(answer.headers.get('x-gateway-replayed')).toBeNull();
  });

  it('is free again after a call that failed', async () => {
    const who = await gateway.account();
    const words = '[[sandbox:status=500]]';
    const sent = body(words);
    const [one, two] = [
      await post(who, path, sent, keyed('failed')),
      await post(who, path, sent, keyed('failed')),
    ];
    expect(one.status).toBeGreaterThanOrEqual(500);
    expect(two.headers.get('x-gateway-replayed')).toBeNull();
    expect(executionOf(two)).not.toBe(executionOf(one));
    const good = await post(who, path, body(), keyed('failed'));
    expect([good.status, await chargesOf(who)]).toEqual([200, 1]);
  });

  it('stays free for a body that is refused', async () => {
    const who = await gateway.account();
    const wrong = { ...body(), model: 'gen-none' };
    expect((await post(who, path, wrong, keyed('refused'))).status).toBe(404);
    await until(async () => (await post(who, path, body(), keyed('refused'))).status === 200);
  });

  it('needs no money for its answer (IDEM-13)', async () => {
    const who = await gateway.account();
    const first = await post(who, path, body(), keyed('spent'));
    const { available } = await gateway.balance(who.accountId);
    const account = `${gateway.url}/admin/accounts/${toPublicId('acct', who.accountId)}`;
    const by = { authorization: `Bearer ${ADMIN_TOKEN}`, ...keyed(who.accountId) };
    const gone = await postJson(`${account}/credits`, by, { amount_microusd: String(-available) });
    expect(gone.status).toBe(201);
    expect((await gateway.balance(who.accountId)).available).toBe(0n);
    expect((await post(who, path, body(), keyed('new'))).status).toBe(402);
    expect(told(await post(who, path, body(), keyed('spent')))).toEqual(told(first));
    // Bodies of images have 1 MiB at most.
    if (path === '/v1/images/generations') return;
    // A body above 1 MB, of which an account without funds has none read otherwise (G-101).
    const large = JSON.stringify(body()) + ' '.repeat(1_050_000);
    const sendLarge = (key: string) =>
      postJson(gateway.url + path, { ...who.headers, ...keyed(key) }, large);
    expect(told(await sendLarge('spent'))).toEqual(told(first));
    expect((await sendLarge('new')).status).toBe(402);
  });

  it.each([
    ['an empty one', ''],
    ['one of 201 characters', 'k'.repeat(201)],
  ])('is refused as %s (G-87)', async (_what, key) => {
    const answer = await post(await gateway.account(), path, body(), keyed(key));
    expect(answer.status).toBe(400);
    expect(answer.bytes.toString()).toContain('Idempotency-Key');
  });
});

describe('a key of a call', () => {
  const path = '/v1/chat/completions';

  it('is bound by the charge also where its answer was not stored: 409 with the execution', async () => {
    const who = await gateway.account();
    const first = await post(who, path, chat(), keyed('bound'));
    await gateway.dataSource.query('DELETE FROM kept_answer WHERE id = $1', [
      fromPublicId('exec', executionOf(first)),
    ]);
    const again = await post(who, path, chat(), keyed('bound'));
    expect([again.status, errorOf(again)]).toMatchObject([
      409,
      { code: 'conflict', param: 'Idempotency-Key' },
    ]);
    expect(executionOf(again)).toBe(executionOf(first));
    expect(await chargesOf(who)).toBe(1);
  });

  it('ignores the order of fields, spaces, and how a number is written', async () => {
    const who = await gateway.account();
    const first = await post(who, path, { ...chat(), max_tokens: 100 }, keyed('order'));
    const text = JSON.stringify({ max_tokens: 100, ...chat() }, null, 2).replace('100', '100.0');
    const headers = { ...who.headers, ...keyed('order') };
    const again = await postJson(gateway.url + path, headers, text);
    expect(told(again)).toEqual(told(first));
  });

  it('is free after a day', async () => {
    const who = await gateway.account();
    await post(who, path, chat(), keyed('old'));
    await gateway.dataSource.query(
      `UPDATE call_key SET expires_at = now() - interval '1 s' WHERE account_id = $1`,
      [who.accountId],
    );
    const again = await post(who, path, chat(), keyed('old'));
    expect([again.headers.get('x-gateway-replayed'), await chargesOf(who)]).toEqual([null, 2]);
  });

  it('answers a stream whose client left before its end, whole', async () => {
    const who = await gateway.account();
    const body = { ...chat('[[sandbox:delay=200]]'), stream: true };
    const leaving = new AbortController();
    const left = fetch(gateway.url + path, {
      method: 'POST',
      headers: { ...who.headers, ...keyed('left'), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    setTimeout(() => {
      leaving.abort();
    }, 100);
    await expect(left).rejects.toThrow();
    const again = await post(who, path, body, keyed('left'));
    expect(again.headers.get('x-gateway-replayed')).toBe('true');
    expect(again.bytes.toString()).toMatch(/data: \[DONE\]\n\n$/);
    expect(await chargesOf(who)).toBe(1);
  });
});
