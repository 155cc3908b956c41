import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { KeptAnswers } from '../../../src/admission/kept/kept-answers.js';
import { fromPublicId, toPublicId } from '../../../src/common/ids/public-id.js';
import { ResponseStore } from '../../../src/stored-responses/response-store.js';
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestAccount,
  type TestGateway,
} from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { until } from '../../support/until.js';

const KEEP = { prefer: 'keep' };
const CHAT = '/v1/chat/completions';
const says = (words: string) => [{ role: 'user', content: `Why is the sky blue? ${words}` }];
const chat = (words = '') => ({ model: 'gen-5-mini', messages: says(words) });
const IMAGE = { model: 'gen-image-2', prompt: 'A lighthouse [[sandbox:delay=300]]' };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const post = (who: TestAccount, path: string, body: object, headers: object = {}) =>
  postJson(gateway.url + path, { ...who.headers, ...headers }, body);
const executionOf = (answer: Answer) => answer.headers.get('x-gateway-execution-id') ?? '';
const content = ({ headers }: TestAccount, id: string) =>
  send(`${gateway.url}/v1/executions/${id}/content`, { headers });

async function expectNone(who: TestAccount, id: string): Promise<void> {
  const answer = await content(who, id);
  expect([answer.status, errorOf(answer)]).toMatchObject([404, { code: 'content_not_available' }]);
}

/** Sends a call and leaves it. */
async function leave(who: TestAccount, path: string, body: object): Promise<void> {
  const leaving = new AbortController();
  const headers = { ...who.headers, 'content-type': 'application/json' };
  const sent = { method: 'POST', headers, body: JSON.stringify(body), signal: leaving.signal };
  const left = fetch(gateway.url + path, sent);
  await sleep(100);
  leaving.abort();
  await expect(left).rejects.toThrow();
}

/** The only execution of the account, once it has succeeded. */
async function onlyExecution(who: TestAccount): Promise<string> {
  let id = '';
  await until(async () => {
    const list = await send(`${gateway.url}/v1/executions`, { headers: who.headers });
    const [one] = (list.json as { data: { id: string; status: string }[] }).data;
    id = one?.id ?? '';
    return one?.status === 'succeeded';
  });
  return id;
}

describe('GET /v1/executions/{id}/content', () => {
  it.each([
    ['a chat', CHAT, chat()],
    ['a chat stream', CHAT, { ...chat(), stream: true }],
    ['a response', '/v1/responses', { model: 'gen-5-mini', input: 'Hi' }],
    ['a stream of a message', '/v1/messages', { ...chat(), max_tokens: 20, stream: true }],
    ['embeddings', '/v1/embeddings', { model: 'gen-embed-demo', input: ['A tower', 'The sea'] }],
    ['an image', '/v1/images/generations', { model: 'gen-image-2', prompt: 'A lighthouse' }],
    ['speech', '/v1/audio/speech', { model: 'aud-v4', input: 'Hello there.', voice: 'Adam' }],
    [
      'speech as WAV',
      '/v1/audio/speech',
      { model: 'aud-v4', input: 'Hello there.', voice: 'Adam', response_format: 'wav' },
    ],
  ])(
    'gives the answer of %s again that its caller wanted kept, free',
    async (_name, path, body) => {
      const who = await gateway.account();
      const first = await post(who, path, body, KEEP);
      expect(first.status).toBe(200);
      expect(first.headers.get('preference-applied')).toBe('keep');
      expect(first.headers.get('x-gateway-kept')).toBeNull();
      const { available } = await gateway.balance(who.accountId);
      const again = await content(who, executionOf(first));
      expect(again.status).toBe(200);
      expect(again.bytes.equals(first.bytes)).toBe(true);
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
      expect((await gateway.balance(who.accountId)).available).toBe(available);
    },
  );

  it('gives what had an Idempotency-Key, and what an operator keeps for the account', async () => {
    const who = await gateway.account();
    const keyed = await post(who, CHAT, chat(), { 'idempotency-key': 'kept' });
    expect((await content(who, executionOf(keyed))).bytes.equals(keyed.bytes)).toBe(true);
    const account = `${gateway.url}/admin/accounts/${toPublicId('acct', who.accountId)}`;
    const by = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const keep = (keeps: boolean) =>
      send(account, {
        method: 'PATCH',
        headers: by,
        body: JSON.stringify({ keep_answers: keeps }),
      });
    expect((await keep(true)).json).toMatchObject({ keep_answers: true });
    await until(async () => {
      const answer = await post(who, CHAT, chat());
      return (await content(who, executionOf(answer))).status === 200;
    });
    expect((await keep(false)).json).toMatchObject({ keep_answers: false });
  });

  it('is 404 for a call that nobody wanted kept, a foreign one and an unknown one', async () => {
    const who = await gateway.account();
    await expectNone(who, executionOf(await post(who, CHAT, chat())));
    const kept = executionOf(await post(who, CHAT, chat(), KEEP));
    const unknown = `exec_${'0'.repeat(32)}`;
    for (const [by, id] of [
      [await gateway.account(), kept],
      [who, unknown],
    ] as const) {
      const answer = await content(by, id);
      expect([answer.status, errorOf(answer)]).toMatchObject([404, { code: 'not_found' }]);
    }
  });

  it.each([
    ['an image', '/v1/images/generations', IMAGE],
    ['a chat', CHAT, chat('[[sandbox:delay=300]]')],
    [
      'embeddings',
      '/v1/embeddings',
      { model: 'gen-embed-demo', input: ['A tower [[sandbox:delay=300]]'] },
    ],
  ])('gives the answer of %s whose caller had left', async (_name, path, body) => {
    const who = await gateway.account();
    await leave(who, path, body);
    const id = await onlyExecution(who);
    await until(async () => (await content(who, id)).status === 200);
    const { json } = await content(who, id);
    expect(Object.keys(json as object).length).toBeGreaterThan(1);
  });

  it('forgets after a day, and at an erasure, which also leaves out what had begun before', async () => {
    const who = await gateway.account();
    const old = executionOf(await post(who, CHAT, chat(), KEEP));
    await gateway.dataSource.query(
      `UPDATE kept_answer SET expires_at = now() - interval '1 s' WHERE id = $1`,
      [fromPublicId('exec', old)],
    );
    await expectNone(who, old);
    await gateway.app.get(KeptAnswers).sweep();
    expect(await bytesOf(who)).toBe(0);
    const erased = executionOf(await post(who, CHAT, chat(), KEEP));
    expect(await bytesOf(who)).toBeGreaterThan(100);
    const late = post(who, CHAT, chat('[[sandbox:delay=400]]'), KEEP);
    await until(async () => (await gateway.balance(who.accountId)).held > 0n);
    await gateway.app.get(ResponseStore).erase(who.accountId);
    await expectNone(who, erased);
    const answer = await late;
    expect([answer.status, answer.headers.get('x-gateway-kept')]).toEqual([200, 'false']);
    await expectNone(who, executionOf(answer));
    expect(await bytesOf(who)).toBe(0);
  });

  it('is not kept where the account has kept 1 GB, and says so', async () => {
    const who = await gateway.account();
    await post(who, CHAT, chat(), KEEP);
    await gateway.dataSource.query(
      'UPDATE stored_content SET kept_bytes = 999999999 WHERE account_id = $1',
      [who.accountId],
    );
    const body = chat();
    const answer = await post(who, CHAT, body, { 'idempotency-key': 'full' });
    expect([answer.status, answer.headers.get('x-gateway-kept')]).toEqual([200, 'false']);
    await expectNone(who, executionOf(answer));
    const again = await post(who, CHAT, body, { 'idempotency-key': 'full' });
    expect([again.status, errorOf(again)]).toMatchObject([409, { code: 'conflict' }]);
    await gateway.dataSource.query(
      `UPDATE stored_content SET kept_bytes = (SELECT sum(bytes) FROM kept_answer k WHERE k.account_id = $1)
        WHERE account_id = $1`,
      [who.accountId],
    );
  });

  it('gives answers of several megabytes again, several readers at once', async () => {
    const who = await gateway.account();
    const input = Array.from({ length: 1_800 }, (_, index) => `Line ${index}`);
    const body = { model: 'gen-embed-demo', input };
    const key = { 'idempotency-key': 'large' };
    const first = await post(who, '/v1/embeddings', body, key);
    expect(first.status).toBe(200);
    expect(first.headers.get('x-gateway-kept')).toBeNull();
    expect(JSON.stringify(first.json).length).toBeGreaterThan(4_500_000);
    const again = await post(who, '/v1/embeddings', body, key);
    expect(again.headers.get('x-gateway-replayed')).toBe('true');
    expect(again.json).toEqual(first.json);
    const reads = Array.from({ length: 6 }, () => content(who, executionOf(first)));
    for (const read of await Promise.all(reads)) expect(read.status).toBe(200);
  });

  it('leaves nothing readable in the database', async () => {
    const who = await gateway.account();
    const answer = await post(who, CHAT, chat(), KEEP);
    const { choices } = answer.json as { choices: { message: { content: string } }[] };
    const rows = await gateway.dataSource.query<{ row: string }[]>(
      'SELECT kept_answer::text AS row FROM kept_answer WHERE id = $1',
      [fromPublicId('exec', executionOf(answer))],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toContain(choices[0]?.message.content);
  });

  it('does not keep an answer above 8 MB, whose key is bound without it', async () => {
    const who = await gateway.account(100_000_000n);
    const input = Array.from({ length: 2_000 }, (_, index) => `A tower ${index}`);
    const body = { model: 'gen-embed-demo', input, encoding_format: 'base64' };
    const headers = { 'idempotency-key': 'large' };
    const first = await post(who, '/v1/embeddings', body, headers);
    expect(first.status === 200 ? '' : first.bytes.toString()).toBe('');
    expect(first.bytes.length).toBeGreaterThan(8 * 1024 * 1024);
    expect(first.headers.get('x-gateway-kept')).toBe('false');
    const again = await post(who, '/v1/embeddings', body, headers);
    expect([again.status, errorOf(again)]).toMatchObject([409, { code: 'conflict' }]);
    expect(executionOf(again)).toBe(executionOf(first));
    // The credit and one charge.
    expect((await gateway.balance(who.accountId)).entries).toBe(2);
  });
});

async function bytesOf({ accountId }: TestAccount): Promise<number> {
  const [row] = await gateway.dataSource.query<{ kept_bytes: string }[]>(
    'SELECT kept_bytes FROM stored_content WHERE account_id = $1',
    [accountId],
  );
  return Number(row?.kept_bytes);
}
