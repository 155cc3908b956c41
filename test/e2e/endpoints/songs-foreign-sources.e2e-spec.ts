import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DubbingHarness } from '../../support/dubbing-harness.js';
import { errorOf, postJson } from '../../support/http-answer.js';

let harness: DubbingHarness;
let dubbing: string;

beforeAll(async () => {
  harness = await DubbingHarness.open();
  const { id } = await harness.submit();
  expect((await harness.ended(id)).status).toBe('succeeded');
  dubbing = id;
});
afterAll(() => harness.close());

describe('a dubbing task that succeeded', () => {
  it.each([
    ['source_task_id', { model: 'song-bpm' }, (id: string) => id],
    ['source_task_ids', { model: 'song-mashup', gen_description: 'x' }, (id: string) => [id, id]],
    ['persona_task_id', { model: 'song-music', prompt: 'x' }, (id: string) => id],
    ['custom_model_task_id', { model: 'song-music', prompt: 'x' }, (id: string) => id],
  ])('is no %s of a song (SONG-09, SONG-24, SONG-27)', async (field, body, value) => {
    const url = `${harness.gateway.url}/v1/music/generations`;
    const answer = await postJson(url, harness.account.headers, {
      ...body,
      [field]: value(dubbing),
    });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_music_request', param: field });
  });
});
