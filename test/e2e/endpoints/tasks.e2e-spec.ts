import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DubbingHarness } from '../../support/dubbing-harness.js';
import type { TestAccount } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { taskEndpoints } from '../../support/task-endpoints.js';

let harness: DubbingHarness;
let account: TestAccount;

beforeAll(async () => {
  harness = await DubbingHarness.open();
  account = harness.account;
});
afterAll(() => harness.close());

const ENDPOINTS = taskEndpoints(() => harness, '[[sandbox:task-ms=0]]');

function post(
  path: string,
  body: object,
  headers: Record<string, string> = {},
  who: TestAccount = account,
): Promise<Answer> {
  return postJson(`${harness.gateway.url}${path}`, { ...who.headers, ...headers }, body);
}

const idOf = (answer: Answer): string => (answer.json as { id: string }).id;
const get = (path: string, who = account) =>
  send(`${harness.gateway.url}${path}`, { headers: who.headers });

describe.each(ENDPOINTS)('POST $path', ({ path, body, status, invalid, insufficient, other }) => {
  it('names the task in body and headers alike, and it can be read there (TASK-01, TASK-02, TASK-05)', async () => {
    const answer = await post(path, body());
    expect(answer.status).toBe(status);
    const id = idOf(answer);
    expect(id).toMatch(/^task_[0-9a-f]{32}$/);
    expect(answer.headers.get('location')).toBe(`/v1/tasks/${id}`);
    expect(answer.headers.get('x-gateway-task-id')).toBe(id);
    expect(answer.json).toMatchObject({ status: 'queued', model: body().model });
    expect((await get(`/v1/tasks/${id}`)).status).toBe(200);
  });

  it('accepts keys of 1 and of 200 characters (IDEM-04)', async () => {
    for (const key of ['k', 'k'.repeat(200)]) {
      const first = await post(path, body(), { 'idempotency-key': key });
      expect(first.status).toBe(status);
      const again = await post(path, body(), { 'idempotency-key': key });
      expect({ status: again.status, id: idOf(again) }).toEqual({
        status,
        id: idOf(first),
      });
      expect(again.headers.get('location')).toBe(first.headers.get('location'));
    }
  });

  it.each(['', 'k'.repeat(201), 'tab\there'])(
    'refuses the key "%s" (IDEM-05, G-87)',
    async (key) => {
      const answer = await post(path, body(), { 'idempotency-key': key });
      expect(answer.status).toBe(400);
      expect(errorOf(answer)).toMatchObject({ code: invalid, param: 'Idempotency-Key' });
    },
  );

  it('rejects a key that was used with another body, and tells SDKs not to retry (IDEM-02)', async () => {
    const headers = { 'idempotency-key': 'other body' };
    await post(path, body(), headers);
    const answer = await post(path, { ...body(), ...other }, headers);
    expect(answer.status).toBe(409);
    expect(errorOf(answer)).toMatchObject({
      code: 'idempotency_conflict',
      param: 'Idempotency-Key',
    });
    expect(answer.headers.get('x-should-retry')).toBe('false');
  });

  it('makes one task of 20 requests at once (IDEM-08)', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(path, body(), { 'idempotency-key': 'at once' })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([status]));
    expect(new Set(answers.map(idOf)).size).toBe(1);
  });

  it('leaves no task after a rejection, and the idempotency key unused (TASK-15, IDEM-12)', async () => {
    const poor = await harness.gateway.account(1n);
    const headers = { 'idempotency-key': 'refused' };
    const refusals = [
      [await post(path, { ...body(), made_up: 1 }, headers, poor), 400, invalid],
      [await post(path, body(), headers, poor), 402, insufficient],
    ] as const;
    for (const [answer, status, code] of refusals) {
      expect({ status: answer.status, code: errorOf(answer).code }).toEqual({ status, code });
    }
    const list = (await get('/v1/tasks', poor)).json as { data: unknown[] };
    expect(list.data).toEqual([]);
    expect(await harness.gateway.balance(poor.accountId)).toMatchObject({
      available: 1n,
      held: 0n,
    });
  });
});

describe('GET /v1/tasks', () => {
  it('lists the tasks of the account as they are read one by one, newest first, page by page', async () => {
    const owner = await harness.gateway.account();
    const ids: string[] = [];
    for (const { path, body } of ENDPOINTS) ids.unshift(idOf(await post(path, body(), {}, owner)));
    interface List {
      data: { id: string }[];
      has_more: boolean;
      next_cursor: string | null;
    }
    const first = (await get('/v1/tasks?limit=2', owner)).json as List;
    const rest = (await get(`/v1/tasks?limit=2&cursor=${first.next_cursor ?? ''}`, owner))
      .json as List;
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(ids);
    expect([first.has_more, rest.has_more]).toEqual([true, false]);
    const videos = (await get('/v1/tasks?modality=video', owner)).json as List;
    expect(videos.data.map(({ id }) => id)).toEqual(ids.slice(0, 1));
    const songs = (await get('/v1/tasks?model=song-lyrics', owner)).json as List;
    expect(songs.data.map(({ id }) => id)).toEqual(ids.slice(1, 2));
    const none = (await get('/v1/tasks?status=expired', owner)).json as List;
    expect(none.data).toEqual([]);
    const past = (await get('/v1/tasks?created_before=1000', owner)).json as List;
    expect(past.data).toEqual([]);
  });

  it.each([
    ['status=done', 'status'],
    ['modality=smell', 'modality'],
    ['limit=0', 'limit'],
    ['created_after=yesterday', 'created_after'],
    ['cursor=x', 'cursor'],
    ['made_up=1', 'made_up'],
  ])('refuses ?%s and names %s', async (query, param) => {
    const answer = await get(`/v1/tasks?${query}`);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_request', param });
  });
});

describe('polling', () => {
  it('every 10 s is never limited, whatever the limit of submissions, and shows the states (TASK-04, TASK-26)', async () => {
    const owner = await harness.gateway.account(undefined, { requestsPerMinute: 1 });
    const song = ENDPOINTS[1];
    const id = idOf(await post(song?.path ?? '', song?.body() ?? {}, {}, owner));
    const seen = new Set<string>();
    for (let read = 0; read < 6; read += 1) {
      const answer = await get(`/v1/tasks/${id}`, owner);
      expect(answer.status).toBe(200);
      seen.add((answer.json as { status: string }).status);
    }
    for (const status of seen) expect(['queued', 'processing', 'succeeded']).toContain(status);
  });

  it('a song has no file to download once it has succeeded (CONTENT-08, G-63)', async () => {
    const song = ENDPOINTS[1];
    const id = idOf(await post(song?.path ?? '', song?.body() ?? {}));
    await send(`${harness.gateway.url}/v1/tasks/${id}`, {
      headers: { ...account.headers, prefer: 'wait=30' },
    });
    const answer = await get(`/v1/tasks/${id}/content`);
    expect(answer.status).toBe(404);
    expect(errorOf(answer).code).toBe('content_not_available');
  });
});
