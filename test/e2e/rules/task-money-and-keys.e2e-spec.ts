import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiKeysService } from '../../../src/auth/api-keys.service.js';
import { postJson, send } from '../../support/http-answer.js';
import { type OwnSongHarness, SongHarness } from '../../support/song-harness.js';
import { AT_ONCE } from '../../support/ttapi-client.js';

const PRICE = 12_000n;
/** The sandbox never ends this one by itself. */
const NEVER = '[[sandbox:task-ms=3600000]]';
const lyrics = (words: string) => ({ model: 'song-lyrics', prompt: `Rain on tin roofs ${words}` });
const DUB = {
  model: 'aud-dubbing-v1',
  source_url: 'https://example.com/talk.wav',
  target_language: 'de',
};

let harness: OwnSongHarness;

beforeAll(async () => {
  harness = await SongHarness.start();
});
afterAll(() => harness.stop());

const balance = () => harness.gateway.balance(harness.account.accountId);
const read = (path: string, headers: Record<string, string> = {}) =>
  send(`${harness.gateway.url}/v1/tasks/${path}`, { headers });
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe('the money of a task', () => {
  it('is reserved at submission and charged once on success (BILL-08, BILL-09)', async () => {
    const before = await balance();
    const task = await harness.submit(lyrics(AT_ONCE));
    expect(task).toMatchObject({ reserved_microusd: String(PRICE), charged_microusd: null });
    const done = await harness.ended(task.id);
    expect(done).toMatchObject({ status: 'succeeded', charged_microusd: String(PRICE) });
    const after = await balance();
    expect([before.available - after.available, after.held]).toEqual([PRICE, before.held]);
  });

  it('lowers what is available while the task is under way (BILL-08, TASK-04, TASK-05)', async () => {
    const account = await harness.gateway.account(PRICE);
    const answer = await harness.post(lyrics(NEVER), {}, account);
    expect(answer.status).toBe(202);
    expect(await answer.json()).toMatchObject({ status: 'queued', model: 'song-lyrics' });
    expect(await harness.gateway.balance(account.accountId)).toMatchObject({
      available: 0n,
      held: PRICE,
    });
  });

  it('comes back in full when the task fails (BILL-10, HOOK-07)', async () => {
    const before = await balance();
    const task = await harness.ended(
      (await harness.submit(lyrics(`${AT_ONCE}[[sandbox:task-fails]]`))).id,
    );
    expect(task).toMatchObject({
      status: 'failed',
      result: null,
      charged_microusd: null,
      error: { code: 'provider_task_failed', message: expect.any(String) },
    });
    expect(await balance()).toMatchObject({ available: before.available, held: before.held });
  });

  it('of open tasks counts against what the next may cost (BILL-11, BILL-16)', async () => {
    const account = await harness.gateway.account(3n * PRICE - 1n);
    for (let count = 0; count < 2; count += 1) {
      expect((await harness.post(lyrics(NEVER), {}, account)).status).toBe(202);
    }
    expect(await harness.refused(lyrics(NEVER), account)).toMatchObject({
      status: 402,
      code: 'insufficient_funds',
    });
    // Exactly what is left is accepted.
    const cheap = { model: 'song-style-boost', tags: 'calm piano' };
    expect((await harness.post(cheap, {}, account)).status).toBe(202);
  });

  it('is not held for what is refused, and no task exists afterwards (TASK-15)', async () => {
    const account = await harness.gateway.account();
    const before = await harness.gateway.balance(account.accountId);
    for (const body of ['rain', { ...lyrics(''), tempo: 3 }, { model: 'song-lyrics' }]) {
      expect(await harness.refused(body, account)).toMatchObject({
        status: 400,
        code: 'invalid_music_request',
      });
    }
    expect(await harness.gateway.balance(account.accountId)).toEqual(before);
    const list = await send(`${harness.gateway.url}/v1/tasks`, { headers: account.headers });
    expect(list.json).toMatchObject({ data: [] });
  });
});

describe('the keys of a task', () => {
  it('are all live keys of the account; other accounts see nothing (AUTH-25, AUTH-26, AUTH-28, G-15)', async () => {
    const { id } = await harness.made(lyrics(AT_ONCE));
    const second = await harness.gateway.keyOf(harness.account.accountId);
    expect((await read(id, harness.account.headers)).status).toBe(200);
    expect((await read(id, bearer(second))).status).toBe(200);
    for (const path of [id, `${id}/content`]) {
      const answer = await read(path);
      expect(answer.status).toBe(401);
      expect(answer.bytes.toString()).not.toContain('song-lyrics');
    }
  });

  it('may be revoked while a task runs: the task continues and settles, and the key reads nothing (AUTH-31, G-15)', async () => {
    const account = await harness.gateway.account();
    const submitted = await harness.post(lyrics('[[sandbox:task-ms=1500]]'), {}, account);
    const { id } = (await submitted.json()) as { id: string };
    const keys = harness.gateway.app.get(ApiKeysService, { strict: false });
    const [{ id: keyId } = { id: '' }] = await keys.list(account.accountId, 1, undefined);
    await keys.revoke(keyId);
    const other = bearer(await harness.gateway.keyOf(account.accountId));
    for (;;) {
      const answer = await read(id, { ...other, prefer: 'wait=20' });
      const { status, charged_microusd: charged } = answer.json as Record<string, string>;
      if (status === 'queued' || status === 'processing') continue;
      expect([status, charged]).toEqual(['succeeded', String(PRICE)]);
      break;
    }
    expect((await read(id, account.headers)).status).toBe(401);
  });

  it.each([
    ['/v1/audio/dubbing', 'AUTH-20', DUB],
    ['/v1/music/generations', 'AUTH-21', { model: 'song-bpm', source_task_id: 'task_x' }],
  ])('refuse %s outside their allowlist (%s)', async (path, _row, body) => {
    const account = await harness.gateway.account(1_000_000n, { allowedModels: ['aud-v4'] });
    const answer = await postJson(harness.gateway.url + path, account.headers, body);
    expect([answer.status, answer.json]).toMatchObject([
      403,
      { error: { code: 'api_key_model_not_allowed', param: 'model' } },
    ]);
  });

  it('poll as often as advised without any limit (TASK-26)', async () => {
    const account = await harness.gateway.account(PRICE, { requestsPerMinute: 6 });
    const submitted = await harness.post(lyrics(NEVER), {}, account);
    const { id } = (await submitted.json()) as { id: string };
    for (let poll = 0; poll < 12; poll += 1) {
      expect((await read(id, account.headers)).status).toBe(200);
    }
  });
});

describe('the errors of asynchronous endpoints', () => {
  it('of a source that is not ready are 409 with the form that is promised (ERR-03, ERR-36)', async () => {
    const { id } = await harness.submit(lyrics(NEVER));
    const refusal = await harness.refused({ model: 'song-bpm', source_task_id: id });
    expect(refusal).toEqual({
      status: 409,
      type: 'invalid_request_error',
      code: 'source_task_not_ready',
      param: 'source_task_id',
      message: 'source_task_id: source_task_id has not finished successfully',
    });
  });

  it('of a field the model does not list are 400 (ERR-35, G-68)', async () => {
    expect(await harness.refused({ ...lyrics(''), seconds: 3 })).toMatchObject({
      status: 400,
      code: 'invalid_music_request',
      param: 'seconds',
    });
  });

  it.each([
    [{ webhook: 'http://example.com/hook', webhook_secret: 'a'.repeat(16) }, 'webhook'],
    [{ webhook: 'https://example.com/hook' }, 'webhook_secret'],
    [{ webhook_secret: 'a'.repeat(16) }, 'webhook_secret'],
    [{ webhook: 'https://example.com/hook', webhook_secret: 'short' }, 'webhook_secret'],
  ])('of a bad webhook are 400 on a dub: %j (ERR-31)', async (fields, param) => {
    const { headers } = harness.account;
    const before = await balance();
    const path = `${harness.gateway.url}/v1/audio/dubbing`;
    const answer = await postJson(path, headers, { ...DUB, ...fields });
    expect([answer.status, answer.json]).toMatchObject([
      400,
      { error: { code: 'invalid_task_command', param } },
    ]);
    expect(await balance()).toEqual(before);
  });

  it('of a key that was used with another body are 409 (ERR-33, LIMIT-11)', async () => {
    const headers = { 'idempotency-key': 'k'.repeat(200) };
    const first = await harness.submit(lyrics(AT_ONCE), headers);
    expect((await harness.submit(lyrics(AT_ONCE), headers)).id).toBe(first.id);
    const answer = await harness.post(lyrics('again'), headers);
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ error: { code: 'idempotency_conflict' } });
  });

  it.each(['', 'k'.repeat(201)])(
    'refuse an Idempotency-Key of a bad length (%#, IDEM-04)',
    async (key) => {
      const answer = await harness.post(lyrics(''), { 'idempotency-key': key });
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { error: { code: 'invalid_music_request', param: 'Idempotency-Key' } },
      ]);
      expect((await harness.post(lyrics(AT_ONCE), { 'idempotency-key': 'k' })).status).toBe(202);
    },
  );

  it('of the file of a song are 404, for it has none (CONTENT-08)', async () => {
    const { id } = await harness.made(lyrics(AT_ONCE));
    const answer = await read(`${id}/content`, harness.account.headers);
    expect([answer.status, answer.json]).toMatchObject([
      404,
      { error: { code: 'content_not_available' } },
    ]);
  });
});
