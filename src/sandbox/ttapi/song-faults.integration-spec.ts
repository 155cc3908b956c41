import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AT_ONCE, type Music, TtapiClient } from '../../../test/support/ttapi-client.js';
import type { SandboxServer } from '../sandbox-server.js';

let server: SandboxServer;
let client: TtapiClient;
let song: Music;
beforeAll(async () => {
  ({ server, client } = await TtapiClient.start());
  song = await client.song();
});
afterAll(() => server.close());

const body = (words: string) => ({
  custom: true,
  instrumental: true,
  mv: 'chirp-hawk',
  tags: `folk ${words}`,
});

async function submitted(words: string): Promise<string> {
  const { data } = await client.ask('suno/v1/music', body(words));
  return String(data?.job_id);
}

async function refusal(path: string, fields: unknown): Promise<string> {
  const answer = await client.post(path, fields);
  const { status, message } = (await answer.json()) as { status: string; message: string };
  expect({ http: answer.status, status }).toEqual({ http: 400, status: 'FAILED' });
  return message;
}

describe('a body with a wrong field', () => {
  it.each([
    ['music', { ...body(''), lyrics: 'x' }, 'lyrics: is not a field'],
    ['music', { custom: true, instrumental: true }, 'mv: is required'],
    ['music', { ...body(''), mv: 'chirp-v5' }, 'mv: must be a model'],
    ['music', { ...body(''), custom: 'yes' }, 'custom: must be a boolean'],
    ['music', { ...body(''), custom: false }, 'gpt_description_prompt: is required'],
    ['music', { ...body(''), instrumental: false }, 'prompt: is required'],
    ['music', { ...body(''), title: 'x'.repeat(81) }, 'title: must have at most 80'],
    ['music', { ...body(''), duration: 361 }, 'duration: must be a number from 10 to 360'],
    ['music', { ...body(''), variety: 1.5 }, 'variety: must be a whole number'],
    ['music', { ...body(''), vocal_gender: 'male' }, 'vocal_gender: must be one of Male'],
    ['inspo', { mv: 'chirp-goose', audio_urls: [] }, 'audio_urls: must be a list of 1 to 4'],
    ['inspo', { mv: 'chirp-goose', audio_urls: ['ftp://a'] }, 'audio_urls: must be a URL'],
    ['sounds', { mv: 'chirp-hawk', sound: '', type: 'loop' }, 'sound: must not be empty'],
    ['bpm', { music_id: 'nothing' }, 'music_id: unknown'],
    ['upload', { audio_url: 'nowhere' }, 'audio_url: must be a URL'],
  ])('of %s is refused: %j', async (operation, fields, message) => {
    expect(await refusal(`suno/v1/${operation}`, fields)).toContain(message);
  });

  it('is refused where times do not fit the track', async () => {
    const music_id = song.musicId;
    const crop = (crop_start_s: number, crop_end_s: number) =>
      refusal('suno/v1/crop', { music_id, crop_start_s, crop_end_s });
    expect(await crop(5, 5)).toContain('crop_end_s');
    expect(await crop(5, 20)).toContain('crop_end_s');
    const rest = { ...body(''), music_id, continue_at: 11 };
    expect(await refusal('suno/v1/extend', rest)).toContain('continue_at');
    const fade = { music_id, fade_time_s: 11, title: 'x' };
    expect(await refusal('suno/v1/fade-in', fade)).toContain('fade_time_s');
  });

  it('is refused in the other family too', async () => {
    expect(await refusal('flowmusic/v1/generations', {})).toContain('sound_prompt');
    const wrong = { lyrics: 'La', length: 241 };
    expect(await refusal('flowmusic/v1/generations', wrong)).toContain('length');
  });

  it('is no JSON object', async () => {
    expect(await refusal('suno/v1/music', [])).toContain('JSON object');
  });
});

describe('a song told to misbehave', () => {
  it('waits, works and is done', async () => {
    const jobId = await submitted('[[sandbox:task-ms=300]]');
    const seen: string[] = [];
    while (seen.at(-1) !== 'SUCCESS') {
      const { status } = await client.stateOf('suno', jobId);
      if (status !== seen.at(-1)) seen.push(status);
      await sleep(5);
    }
    const order = ['PENDING_QUEUE', 'ON_QUEUE', 'SUCCESS'];
    expect(seen).toEqual(order.filter((status) => seen.includes(status)));
  });

  it('cannot be worked on before it is done', async () => {
    const jobId = await submitted('[[sandbox:task-ms=60000]]');
    expect(await refusal('suno/v1/bpm', { music_id: `${jobId}-1` })).toContain('music_id');
  });

  it.each([
    ['[[sandbox:task-state=PONDERING]]', 'PONDERING'],
    [`${AT_ONCE}[[sandbox:task-fails]]`, 'FAILED'],
  ])('%s reports %s', async (words, status) => {
    expect(await client.stateOf('suno', await submitted(words))).toMatchObject({ status });
  });

  it('reports a progress of 101', async () => {
    const jobId = await submitted('[[sandbox:task-progress=101]]');
    expect(await client.stateOf('suno', jobId)).toMatchObject({ data: { progress: '101%' } });
  });

  it('succeeds with nothing to show', async () => {
    const { status, data } = await client.stateOf(
      'suno',
      await submitted(`${AT_ONCE}[[sandbox:no-result]]`),
    );
    expect(status).toBe('SUCCESS');
    expect(data).not.toHaveProperty('musics');
  });

  it.each([0, 1, 8])('brings %i tracks', async (count) => {
    const { data } = await client.stateOf(
      'suno',
      await submitted(`${AT_ONCE}[[sandbox:tracks=${count}]]`),
    );
    expect(data?.musics ?? []).toHaveLength(count);
  });

  it('has files that are gone', async () => {
    const words = `${AT_ONCE}[[sandbox:file=404]]`;
    const [music] = await client.musics('music', body(words));
    expect((await fetch(music?.audioUrl ?? '')).status).toBe(404);
  });

  it.each([429, 499, 503])('is refused with %i', async (status) => {
    const answer = await client.post('suno/v1/music', body(`[[sandbox:status=${status}]]`));
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ status: 'FAILED', message: expect.any(String) });
  });

  it('spoils polls, then tells its state', async () => {
    const jobId = await submitted('[[sandbox:poll=500]][[sandbox:polls=1]]');
    expect((await client.fetch('suno', jobId)).status).toBe(500);
    expect((await client.fetch('suno', jobId)).status).toBe(200);
  });

  it('is accepted although its answer is lost, and counted when it is sent again', async () => {
    const fields = body('twice [[sandbox:lost-answer]]');
    await expect(client.post('suno/v1/music', fields)).rejects.toThrow();
    await expect(client.post('suno/v1/music', fields)).rejects.toThrow();
    const jobs = server.lastJobs().filter(({ label }) => label.includes('twice'));
    expect(jobs.map(({ submissions }) => submissions)).toEqual([2, 2]);
  });

  it('fails in its second step after the first was paid', async () => {
    const audio_url = 'https://example.com/a.mp3';
    const uploaded = await client.run('suno/v1/upload', { audio_url, is_async: false });
    const cover = { ...body(`${AT_ONCE}[[sandbox:task-fails]]`), ...uploaded };
    await expect(client.run('suno/v1/cover', cover)).rejects.toThrow('could not be made');
  });

  it('fails at once where it answers at once', async () => {
    const answer = await client.post('suno/v1/upsample-tags', {
      tags: 'folk [[sandbox:task-fails]]',
    });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ status: 'FAILED', data: null });
  });

  it('is asked after with an id that exists', async () => {
    expect((await client.fetch('suno', 'nothing')).status).toBe(404);
    const jobId = await submitted('');
    expect((await client.fetch('flowmusic', jobId)).status).toBe(404);
  });

  it('wants the right key', async () => {
    const headers = { 'tt-api-key': 'wrong' };
    const answer = await fetch(`${client.base}/suno/v2/fetch?jobId=a`, { headers });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ status: 'FAILED' });
  });
});
