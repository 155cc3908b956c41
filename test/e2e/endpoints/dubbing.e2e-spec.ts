import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { measureBytes } from '../../../src/media/duration/media-duration.js';
import { sample } from '../../media/byte-edits.js';
import { DubbingHarness, silentWav } from '../../support/dubbing-harness.js';

const LANGUAGES =
  'en hi pt zh es fr de ja ar ru ko id it nl tr pl sv fil ms ro uk el cs da fi bg hr sk ta hu no vi'.split(
    ' ',
  );
const SOURCE_61 = silentWav(61.2);
const PRICE_61 = '775000';
/** Sixty-two seconds of speech would only cost CPU time. */
const NEVER = '[[sandbox:task-ms=3600000]]';

let harness: DubbingHarness;

beforeAll(async () => {
  harness = await DubbingHarness.open();
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());

describe('POST /v1/audio/dubbing', () => {
  it('returns 202 with a queued task, its Location and its id (DUB-01, TASK-01, TASK-02, TASK-14)', async () => {
    harness.serve(SOURCE_61);
    const before = Math.floor(Date.now() / 1000);
    const answer = await harness.post({ source_url: harness.source(NEVER) });
    expect(answer.status).toBe(202);
    const { id } = answer.json as { id: string };
    expect(id).toMatch(/^task_[0-9a-f]{32}$/);
    expect(answer.headers.get('location')).toBe(`/v1/tasks/${id}`);
    expect(answer.headers.get('x-gateway-task-id')).toBe(id);
    expect(answer.json).toEqual({
      id,
      object: 'task',
      status: 'queued',
      model: 'aud-dubbing-v1',
      modality: 'audio',
      progress: null,
      result: null,
      error: null,
      reserved_microusd: PRICE_61,
      charged_microusd: null,
      created_at: expect.any(Number),
      completed_at: null,
    });
    const { created_at: createdAt } = answer.json as { created_at: number };
    expect(createdAt).toBeGreaterThanOrEqual(before);
    expect(await harness.gateway.balance(harness.account.accountId)).toMatchObject({
      held: 775_000n,
    });
  });

  it('dubs: the task ends succeeded and charged, and its file plays (DUB-48, DUB-50, DUB-51, DUB-52, DUB-53, DUB-54, DUB-55, DUB-56, CONTENT-01, CONTENT-02)', async () => {
    const { id, reserved_microusd: reserved } = await harness.submit({ target_language: 'de' });
    const task = await harness.ended(id);
    expect(task).toMatchObject({ status: 'succeeded', charged_microusd: reserved, error: null });
    expect(task.completed_at).toEqual(expect.any(Number));
    expect(task.result).toEqual({
      urls: [],
      content_path: `/v1/tasks/${id}/content`,
      content_url: expect.stringContaining(`/v1/tasks/${id}/content?expires=`),
      target_language: 'de',
      source_language: expect.stringMatching(/^[a-z]{2,3}$/),
      content_type: 'audio/mpeg',
      has_video: false,
      duration_seconds: 1,
    });
    const content = await harness.get(`${id}/content`);
    expect(content.status).toBe(200);
    expect(content.headers.get('content-type')).toBe('audio/mpeg');
    expect(content.headers.get('content-disposition')).toBe('attachment; filename="dubbed-de.mp3"');
    const { format, durationMicros } = measureBytes(content.bytes);
    expect(format).toBe('mp3');
    expect(Number(durationMicros) / 1e6).toBeCloseTo(1, 0);
    const { entries, held } = await harness.gateway.balance(harness.account.accountId);
    expect({ entries, held }).toEqual({ entries: 2, held: 0n });
  });

  it("deletes the provider's project after storing the dub; our copy stays", async () => {
    const { id } = await harness.submit();
    await harness.ended(id);
    for (;;) {
      const jobs = (await harness.gateway.sandbox?.jobs(100)) ?? [];
      if (jobs.find(({ label }) => label === id)?.isRemoved) break;
      await sleep(20);
    }
    expect((await harness.get(`${id}/content`)).status).toBe(200);
  });

  it('answers a video with a video', async () => {
    harness.serve(sample('tone.mp4'));
    const { id } = await harness.submit();
    const task = await harness.ended(id);
    const isVideo = task.result?.content_type === 'video/mp4';
    expect(task.result?.has_video).toBe(isVideo);
    const content = await harness.get(`${id}/content`);
    expect(content.headers.get('content-disposition')).toBe(
      `attachment; filename="dubbed-fr.${isVideo ? 'mp4' : 'mp3'}"`,
    );
  });

  it('downloads the source once, and the provider gets that file although the URL holds another one later (DUB-16)', async () => {
    const source = silentWav(1.345);
    let served = 0;
    harness.host.reply = (response) => {
      served += 1;
      response.end(served === 1 ? source : silentWav(700));
    };
    const { id } = await harness.submit();
    await harness.ended(id);
    expect(harness.host.seen).toHaveLength(1);
    const requests = await harness.gateway.upstreamRequests();
    const upload = requests.find(
      ({ path, method }) => method === 'POST' && path.endsWith('/v1/dubbing'),
    );
    expect(upload?.bodyBytes).toBeGreaterThan(source.length);
    expect(upload?.bodyBytes).toBeLessThan(source.length + 2_000);
    expect((await harness.task(id)).result?.duration_seconds).toBeCloseTo(1.345, 2);
  });

  it('keeps the source until the provider has it, and the dub after', async () => {
    const { id } = await harness.submit();
    await harness.ended(id);
    const sql = `SELECT content_type FROM stored_file WHERE account_id = $1`;
    expect(await harness.gateway.dataSource.query(sql, [harness.account.accountId])).toEqual([
      { content_type: 'audio/mpeg' },
    ]);
  });

  it.each([
    ['refused', '[[sandbox:status=400]]'],
    ['without an answer', '[[sandbox:lost-answer]]'],
  ])('keeps no source of a task whose submission was %s', async (_how, magic) => {
    const { id } = await harness.submit({ source_url: harness.source(magic) });
    await harness.ended(id);
    const sql = `SELECT id FROM stored_file WHERE account_id = $1`;
    const kept = () => harness.gateway.dataSource.query<object[]>(sql, [harness.account.accountId]);
    while ((await kept()).length > 0) await sleep(20);
  });

  it('sends the provider the task, the languages and no watermark (DUB-40)', async () => {
    const { id } = await harness.submit();
    await harness.ended(id);
    expect(await harness.formOf(id)).toEqual({
      name: id,
      target_lang: 'fr',
      source_lang: 'auto',
      watermark: 'false',
      dubbing_studio: 'false',
      mode: 'automatic',
    });
  });

  it('holds the price while the task is queued and processing (DUB-57)', async () => {
    const { id } = await harness.submit({ source_url: harness.source(NEVER) });
    const held = async () => (await harness.gateway.balance(harness.account.accountId)).held;
    expect(await held()).toBe(12_500n);
    while ((await harness.task(id)).status === 'queued') await sleep(20);
    expect(await harness.task(id)).toMatchObject({ status: 'processing', charged_microusd: null });
    expect(await held()).toBe(12_500n);
  });

  it('fails without a charge when the provider fails (DUB-49, TASK-18, TASK-19, G-27)', async () => {
    const magic = '[[sandbox:task-ms=50]][[sandbox:task-fails]]';
    const { id } = await harness.submit({ source_url: harness.source(magic) });
    expect(await harness.ended(id)).toMatchObject({
      status: 'failed',
      result: null,
      error: { code: 'provider_task_failed', message: expect.stringMatching(/./) },
      reserved_microusd: '12500',
      charged_microusd: null,
      completed_at: expect.any(Number),
    });
    expect(await harness.gateway.balance(harness.account.accountId)).toMatchObject({
      available: 1_000_000_000n,
      held: 0n,
      entries: 1,
    });
  });

  it('fails without a charge when the provider refuses the submission (TASK-23, G-54)', async () => {
    const magic = '[[sandbox:status=400]][[sandbox:code=unsupported_language]]';
    const { id } = await harness.submit({ source_url: harness.source(magic) });
    expect(await harness.ended(id)).toMatchObject({
      status: 'failed',
      error: { code: 'provider_task_failed' },
      charged_microusd: null,
    });
  });

  it('needs the exact balance: one micro-USD less is refused (DUB-47)', async () => {
    harness.serve(SOURCE_61);
    const fields = { source_url: harness.source(NEVER) };
    await harness.clear(774_999n);
    harness.serve(SOURCE_61);
    await harness.refuses(() => harness.post(fields), { status: 402, code: 'insufficient_funds' });
    await harness.clear(775_000n);
    harness.serve(SOURCE_61);
    await harness.submit(fields);
  });

  it('accepts each of the 32 languages, for both fields (DUB-28, DUB-30, DUB-32, LANG-01, LANG-02)', async () => {
    // They end at once, so that their polls do not push their orders out of what the sandbox remembers.
    const fields = { source_url: harness.source('[[sandbox:task-ms=0]][[sandbox:task-fails]]') };
    const submit = (codes: readonly string[]) =>
      Promise.all(
        codes.map((code) =>
          harness.submit({ ...fields, target_language: code, source_language: code }),
        ),
      );
    // An account may have 20 downloads at once.
    const tasks = [
      ...(await submit(LANGUAGES.slice(0, 16))),
      ...(await submit(LANGUAGES.slice(16))),
    ];
    for (const [index, { id }] of tasks.entries()) {
      const code = LANGUAGES[index];
      while ((await harness.task(id)).status === 'queued') await sleep(20);
      expect(await harness.formOf(id)).toMatchObject({ target_lang: code, source_lang: code });
    }
  });

  it('never shows "auto" for the language of the source (DUB-53)', async () => {
    const { id } = await harness.submit({ source_language: 'auto' });
    const { result } = await harness.ended(id);
    expect(await harness.formOf(id)).toMatchObject({ source_lang: 'auto' });
    expect(result?.source_language).not.toBe('auto');
  });

  it.each([
    ['num_speakers', 0, '0', 'DUB-33, LIMIT-09'],
    ['num_speakers', 32, '32', 'DUB-33, LIMIT-09'],
    ['highest_resolution', true, 'true', 'DUB-36'],
    ['highest_resolution', false, 'false', 'DUB-36'],
    ['drop_background_audio', true, 'true', 'DUB-38'],
    ['drop_background_audio', false, 'false', 'DUB-38'],
  ] as const)('sends %s = %j as %s (%s)', async (field, value, sent, _row) => {
    const { id } = await harness.submit({ [field]: value });
    await harness.ended(id);
    expect(await harness.formOf(id)).toMatchObject({ [field]: sent });
  });

  it('leaves a dub without a result to an operator', async () => {
    const magic = '[[sandbox:task-ms=0]][[sandbox:no-result]]';
    const { id } = await harness.submit({ source_url: harness.source(magic) });
    expect(await harness.ended(id)).toMatchObject({
      status: 'reconciliation_required',
      result: null,
      charged_microusd: null,
      error: null,
    });
    expect(await harness.gateway.balance(harness.account.accountId)).toMatchObject({
      held: 12_500n,
    });
  });
});
