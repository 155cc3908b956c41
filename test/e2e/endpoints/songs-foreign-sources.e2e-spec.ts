import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DubbingDesk } from '../../support/dubbing-desk.js';
import { errorOf, postJson } from '../../support/http-answer.js';

let desk: DubbingDesk;
let dubbing: string;

beforeAll(async () => {
  desk = await DubbingDesk.open();
  const { id } = await desk.submit();
  expect((await desk.ended(id)).status).toBe('succeeded');
  dubbing = id;
});
afterAll(() => desk.close());

describe('a dubbing task that succeeded', () => {
  it.each([
    ['source_task_id', { model: 'song-bpm' }, (id: string) => id],
    ['source_task_ids', { model: 'song-mashup', gen_description: 'x' }, (id: string) => [id, id]],
    ['persona_task_id', { model: 'song-music', prompt: 'x' }, (id: string) => id],
    ['custom_model_task_id', { model: 'song-music', prompt: 'x' }, (id: string) => id],
  ])('is no %s of a song (SONG-09, SONG-24, SONG-27)', async (field, body, value) => {
    const url = `${desk.gateway.url}/v1/music/generations`;
    const answer = await postJson(url, desk.account.headers, { ...body, [field]: value(dubbing) });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_music_request', param: field });
  });
});
