import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type SongAnswer, SongHarness } from '../../support/song-harness.js';
import { AT_ONCE } from '../../support/ttapi-client.js';

const PATIENCE_MS = 180_000;
const NEVER = '[[sandbox:task-ms=3600000]]';
const bad = (param: string) => ({ status: 400, code: 'invalid_music_request', param });
const notReady = (field: string) => ({
  status: 409,
  code: 'source_task_not_ready',
  type: 'invalid_request_error',
  param: field,
  message: `${field}: ${field} has not finished successfully`,
});
const urls = (count: number) =>
  Array.from({ length: count }, (_value, index) => `https://example.com/${index}.mp3`);

let harness: SongHarness;
let song: SongAnswer;
let persona: SongAnswer;
let customModel: SongAnswer;
let open: SongAnswer;

beforeAll(async () => {
  harness = await SongHarness.shared();
  [song, customModel, open] = await Promise.all([
    harness.made({ model: 'song-music', prompt: `${AT_ONCE}a song` }),
    harness.made({ model: 'song-custom-model', name: `${AT_ONCE}Mine`, audio_urls: urls(6) }),
    harness.submit({ model: 'song-music', prompt: NEVER }),
  ]);
  persona = await harness.made({ model: 'song-persona', source_task_id: song.id, name: 'Ann' });
}, PATIENCE_MS);
afterAll(() => harness.stop());

const cover = (fields: object) => ({
  model: 'song-cover',
  source_task_id: song.id,
  gen_description: `${AT_ONCE}${randomUUID()}`,
  ...fields,
});
const lastSent = async (path: string) => (await harness.sent(path)).at(-1);

describe('persona_task_id and custom_model_task_id', () => {
  it('give the song its singer (SONG-23, SONG-64)', async () => {
    const { id } = persona.result.persona as { id: string };
    await harness.made(cover({ persona_task_id: persona.id }));
    expect(await lastSent('/cover')).toMatchObject({ persona_id: id, mv: 'chirp-hawk' });
  });

  it('stand in for a version (SONG-26, SONG-65)', async () => {
    const { id, name } = customModel.result.custom_model as { id: string; name: string };
    expect(name).toBe('Mine');
    await harness.made(cover({ custom_model_task_id: customModel.id }));
    expect(await lastSent('/cover')).toMatchObject({ mv: id });
  });

  it('are refused while their task is on its way (SONG-24, SONG-27)', async () => {
    const model = await harness.submit({
      model: 'song-custom-model',
      name: `${NEVER}Mine`,
      audio_urls: urls(7),
    });
    expect(await harness.refused(cover({ custom_model_task_id: model.id }))).toMatchObject(
      notReady('custom_model_task_id'),
    );
    const slow = await harness.submit({
      model: 'song-persona',
      source_task_id: song.id,
      name: '[[sandbox:delay=600000]]Ann',
    });
    expect(await harness.refused(cover({ persona_task_id: slow.id }))).toMatchObject(
      notReady('persona_task_id'),
    );
  });

  it('are refused for a task of another operation, finished or not (SONG-24, SONG-27)', async () => {
    for (const field of ['persona_task_id', 'custom_model_task_id']) {
      for (const task of [song, open]) {
        expect(await harness.refused(cover({ [field]: task.id }))).toMatchObject(bad(field));
      }
    }
  });

  it('are refused together, and a custom model with a version (SONG-25, SONG-28, G-75)', async () => {
    expect(
      await harness.refused(
        cover({ persona_task_id: persona.id, custom_model_task_id: customModel.id }),
      ),
    ).toMatchObject(bad('persona_task_id'));
    expect(
      await harness.refused(cover({ version: 'v6', custom_model_task_id: customModel.id })),
    ).toMatchObject(bad('version'));
  });
});

describe('a song that fails', () => {
  it('gives its hold back and is not charged (SONG-57)', async () => {
    const account = await harness.gateway.account(75_000n);
    const prompt = `${AT_ONCE}[[sandbox:task-fails]] never`;
    const answer = await harness.post({ model: 'song-music', prompt }, {}, account);
    const { id } = (await answer.json()) as { id: string };
    expect(await harness.ended(id, account)).toMatchObject({
      status: 'failed',
      error: { code: 'provider_task_failed' },
      result: null,
      charged_microusd: null,
    });
    const { available, held } = await harness.gateway.balance(account.accountId);
    expect({ available, held }).toEqual({ available: 75_000n, held: 0n });
  });
});
