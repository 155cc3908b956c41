import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { DubbingHarness, silentWav } from '../../support/dubbing-harness.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { EDIT_MODEL, EDITS_PATH, LOW_PRICE, PNG } from '../../support/image-desk.js';
import { PAID_AUDIO_ENDPOINTS } from '../../support/paid-endpoints.js';

const ASYNC = { prefer: 'respond-async' };
const SECRET = 'a secret of sixteen';
const TIMEOUT_MS = 120_000;
/** The recording of the harness: the price is that of a second. */
const RECORDED = new Set(['transcriptions', 'alignment', 'voice-changer', 'isolation']);

let harness: DubbingHarness;
beforeAll(async () => {
  harness = await DubbingHarness.open();
});
afterAll(async () => {
  await harness.gateway.expectCleanBooks();
  await harness.close();
});
beforeEach(async () => {
  await harness.clear();
  harness.serve(silentWav(12.3));
});

function post(path: string, body: object, headers: object = ASYNC): Promise<Answer> {
  const { gateway, account } = harness;
  return postJson(gateway.url + path, { ...account.headers, ...headers }, body);
}

function postForm(
  path: string,
  parts: readonly (readonly [string, string | Buffer])[],
  headers: object = ASYNC,
) {
  const form = new FormData();
  for (const [name, value] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)]), 'a.bin');
  }
  const sent = { ...harness.account.headers, ...headers };
  return send(harness.gateway.url + path, { method: 'POST', headers: sent, body: form });
}

const idOf = (answer: Answer): string => (answer.json as { id: string }).id;
const recording = (): string => `${harness.host.url}/recording.wav`;
/** What was uploaded is removed soon after the end, so the number is awaited. */
const untilFiles = async (count: number): Promise<void> => {
  while ((await filesLeft()) !== count) await sleep(20);
};
const filesLeft = async (): Promise<unknown> => {
  const sql = `SELECT count(*)::int AS files FROM stored_file WHERE account_id = $1 AND expires_at > now()`;
  const [row] = await harness.gateway.dataSource.query<{ files: number }[]>(sql, [
    harness.account.accountId,
  ]);
  return row?.files;
};

describe.each(PAID_AUDIO_ENDPOINTS)('$path as a task', ({ path, body, model, price }) => {
  it(
    'is accepted with a task, whose content is what the call itself answers, for the same price',
    async () => {
      const sent = body(recording());
      const now = await post(path, sent, {});
      expect([now.status, now.headers.get('x-gateway-charge-microusd')]).toEqual([
        200,
        String(price),
      ]);
      const answer = await post(path, sent);
      expect(answer.status === 202 ? '' : answer.bytes.toString()).toBe('');
      const id = idOf(answer);
      expect([
        answer.headers.get('preference-applied'),
        answer.headers.get('location'),
        answer.headers.get('x-gateway-task-id'),
      ]).toEqual(['respond-async', `/v1/tasks/${id}`, id]);
      expect(answer.json).toMatchObject({
        object: 'task',
        status: 'queued',
        modality: 'audio',
        model,
        result: null,
        reserved_microusd: String(price),
      });
      const task = await harness.ended(id);
      expect(task).toMatchObject({ status: 'succeeded', charged_microusd: String(price) });
      const type = now.headers.get('content-type');
      expect(task.result).toEqual({
        content_path: `/v1/tasks/${id}/content`,
        content_url: expect.stringContaining(`/v1/tasks/${id}/content?expires=`),
        content_type: type,
      });
      const content = await harness.get(`${id}/content`);
      expect([content.status, content.headers.get('content-type')]).toEqual([200, type]);
      if (type?.startsWith('application/json')) expect(content.json).toEqual(now.json);
      else expect(content.bytes.equals(now.bytes)).toBe(true);
      expect((await send(String(task.result?.content_url))).bytes.equals(content.bytes)).toBe(true);
      const { entries, held } = await harness.gateway.balance(harness.account.accountId);
      expect([entries, held]).toEqual([3, 0n]);
      // The answer alone: what the caller sent is gone.
      await untilFiles(1);
    },
    TIMEOUT_MS,
  );

  it('takes a webhook and an idempotency key only as a task', async () => {
    const sent = body(recording());
    const refused = await post(path, { ...sent, webhook: 'https://example.com' }, {});
    expect([refused.status, errorOf(refused).param]).toEqual([400, 'webhook']);
    const keyed = await post(path, sent, { 'idempotency-key': 'a' });
    expect([keyed.status, errorOf(keyed).code]).toEqual([400, 'idempotency_not_supported']);
    const bad = await post(path, { ...sent, webhook: harness.receiver.url });
    expect([bad.status, errorOf(bad).param]).toEqual([400, 'webhook_secret']);
    const field = await post(path, { ...sent, webhok: 1 });
    expect([field.status, errorOf(field).param]).toEqual([400, 'webhok']);
    const key = await post(path, sent, { ...ASYNC, 'idempotency-key': '' });
    expect([key.status, errorOf(key).param]).toEqual([400, 'Idempotency-Key']);
    expect(await harness.gateway.balance(harness.account.accountId)).toMatchObject({
      entries: 1,
      held: 0n,
    });
    expect(await filesLeft()).toBe(0);
  });

  it('is one task for one key and body, and 409 for another body', async () => {
    const sent = body(recording());
    const keyed = { ...ASYNC, 'idempotency-key': 'one' };
    const [first, second] = await Promise.all([post(path, sent, keyed), post(path, sent, keyed)]);
    const third = await post(path, sent, keyed);
    expect([first.status, second.status, third.status]).toEqual([202, 202, 202]);
    expect(new Set([first, second, third].map(idOf)).size).toBe(1);
    expect(third.headers.get('preference-applied')).toBe('respond-async');
    const other = await post(path, { ...sent, model }, { ...ASYNC, 'idempotency-key': 'one' });
    expect(idOf(other)).toBe(idOf(first));
    const another = RECORDED.has(path.split('/').pop() ?? '')
      ? { ...sent, audio_url: `${recording()}?2` }
      : { ...sent, webhook: harness.receiver.url, webhook_secret: SECRET };
    const conflict = await post(path, another, keyed);
    expect([conflict.status, errorOf(conflict).code]).toEqual([409, 'idempotency_conflict']);
    expect(await harness.ended(idOf(first))).toMatchObject({ status: 'succeeded' });
    const { entries } = await harness.gateway.balance(harness.account.accountId);
    expect(entries).toBe(2);
  });
});

it('music without a length and music of 30 s are one request for an idempotency key', async () => {
  const sent = { model: 'aud-music-v2.5', prompt: 'piano [[instant]]' };
  const keyed = { ...ASYNC, 'idempotency-key': 'length' };
  const compose = (fields: object) => post('/v1/audio/music', { ...sent, ...fields }, keyed);
  const first = await compose({});
  expect(first.json).toMatchObject({ reserved_microusd: '112500' });
  expect(idOf(await compose({ duration_seconds: 30 }))).toBe(idOf(first));
  expect(idOf(await compose({ duration_seconds: null }))).toBe(idOf(first));
  const conflict = await compose({ duration_seconds: 31 });
  expect([conflict.status, errorOf(conflict).code]).toEqual([409, 'idempotency_conflict']);
  await harness.ended(idOf(first));
});

describe('an upload as a task', () => {
  const FORM = [
    ['model', 'aud-voice-isolator'],
    ['file', silentWav(6)],
  ] as const;
  const PATH = '/v1/audio/isolation';

  it('is one task for one key and file, and 409 for another file of the same form', async () => {
    const keyed = { ...ASYNC, 'idempotency-key': 'file' };
    const first = await postForm(PATH, FORM, keyed);
    expect(first.status === 202 ? '' : first.bytes.toString()).toBe('');
    expect(idOf(await postForm(PATH, FORM, keyed))).toBe(idOf(first));
    const other = await postForm(PATH, [FORM[0], ['file', silentWav(7)]], keyed);
    expect([other.status, errorOf(other).code]).toEqual([409, 'idempotency_conflict']);
    expect(await harness.ended(idOf(first))).toMatchObject({ status: 'succeeded' });
    await untilFiles(1);
  });

  it('that is too short is refused before anything is held or kept', async () => {
    const answer = await postForm(PATH, [FORM[0], ['file', silentWav(2)]]);
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'audio_too_short']);
    expect(await filesLeft()).toBe(0);
  });
});

describe('images as tasks', () => {
  it('are made as by the call, and only what was made is charged', async () => {
    const answer = await post('/v1/images/generations', {
      model: EDIT_MODEL,
      prompt: 'A lighthouse [[sandbox:images=1]]',
      n: 3,
    });
    expect(answer.json).toMatchObject({
      modality: 'image',
      reserved_microusd: String(3n * LOW_PRICE),
    });
    const task = await harness.ended(idOf(answer));
    const content = await harness.get(`${idOf(answer)}/content`);
    const { data } = content.json as { data: { b64_json: string }[] };
    expect(task).toMatchObject({
      status: 'succeeded',
      charged_microusd: String(BigInt(data.length) * LOW_PRICE),
    });
    expect(
      Buffer.from(data[0]?.b64_json ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    const books = await harness.gateway.dataSource.query<Record<string, unknown>[]>(
      `SELECT unit, quantity, unit_price, (SELECT quantity::int FROM usage_call u WHERE u.id = t.id) AS counted
         FROM task t WHERE account_id = $1`,
      [harness.account.accountId],
    );
    expect(books).toEqual([
      { unit: 'image', quantity: data.length, unit_price: String(LOW_PRICE), counted: data.length },
    ]);
    const list = await send(`${harness.gateway.url}/v1/tasks?modality=image`, {
      headers: harness.account.headers,
    });
    expect((list.json as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual([
      idOf(answer),
    ]);
  });

  it('are edited of the images of a form, which are gone afterwards', async () => {
    const parts = [
      ['model', EDIT_MODEL],
      ['prompt', 'At night'],
      ['image[]', PNG],
      ['image[]', PNG],
      ['mask', PNG],
      ['webhook', harness.receiver.url],
      ['webhook_secret', SECRET],
    ] as const;
    const answer = await postForm(EDITS_PATH, parts, { ...ASYNC, 'idempotency-key': 'edit' });
    expect(answer.status === 202 ? '' : answer.bytes.toString()).toBe('');
    const again = await postForm(EDITS_PATH, parts, { ...ASYNC, 'idempotency-key': 'edit' });
    expect(idOf(again)).toBe(idOf(answer));
    const task = await harness.ended(idOf(answer));
    expect(task).toMatchObject({ status: 'succeeded', charged_microusd: String(LOW_PRICE) });
    await untilFiles(1);
    const [told] = await harness.receiver.until(1);
    expect(JSON.parse(String(told?.body))).toEqual(await harness.task(idOf(answer)));
  });
});
