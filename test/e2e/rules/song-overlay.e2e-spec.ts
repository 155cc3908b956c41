import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SongDesk } from '../../support/song-desk.js';
import { type SeenRequest, StubUpstream } from '../../support/stub-upstream.js';

/** Another upstream: nothing is where, or named as, the table of the adapter has it. */
const OVERLAY = {
  upstream_calls: [
    {
      call: 'suno/lyrics',
      path: '/v3/words',
      fetch_path: '/v3/tickets',
      names: [{ field: 'prompt', upstream_name: 'about' }],
      constants: [
        { upstream_name: 'language', value: 'en' },
        { upstream_name: 'lines', value: 8 },
        { upstream_name: 'rhymes', value: true },
      ],
      omits: ['lyrics_model'],
      steps: [
        { path: '/v3/sign-in', takes: [], keeps: 'pass' },
        { path: '/v3/muse', takes: ['prompt'], only_with: 'prompt', keeps: 'muse' },
      ],
      answer_names: [
        { field: 'data', upstream_name: 'payload' },
        { field: 'status', upstream_name: 'state' },
        { field: 'job_id', upstream_name: 'ticket' },
        { field: 'lyrics', upstream_name: 'verses' },
        { field: 'text', upstream_name: 'words' },
      ],
    },
  ],
  models: [{ id: 'song-add-stem', limits: { stem_types: ['theremin', 'cello'] } }],
};

let folder: string;
let upstream: StubUpstream;
let desk: SongDesk;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shim-overlay-'));
  await writeFile(join(folder, 'catalog.json'), JSON.stringify(OVERLAY));
  upstream = await StubUpstream.start();
  upstream.reply = (response, request) => response.end(JSON.stringify(answerTo(request)));
  desk = await SongDesk.start({
    CATALOG_FILE: join(folder, 'catalog.json'),
    TTAPI_API_KEY: 'none',
    TTAPI_BASE_URL: upstream.url,
  });
});
afterAll(async () => {
  await desk.stop();
  await upstream.stop();
  await rm(folder, { recursive: true });
});

function answerTo({ url }: SeenRequest): object {
  const payloads: Readonly<Record<string, object>> = {
    '/v3/sign-in': { pass: 'p-1' },
    '/v3/muse': { muse: 'm-1' },
    '/v3/words': { ticket: 't-1' },
    '/v3/tickets?jobId=t-1': { verses: [{ words: 'Boats on the water', title: 'Boats' }] },
  };
  return { state: 'SUCCESS', payload: payloads[url] };
}

describe('CATALOG_FILE', () => {
  it('fits a song operation to an upstream whose paths, names, steps and answers all differ', async () => {
    const { result } = await desk.made({ model: 'song-lyrics', prompt: 'boats' });
    expect(result).toEqual({ urls: [], lyrics: [{ text: 'Boats on the water', title: 'Boats' }] });
    const asked = upstream.seen.map(({ method, url, body }) => [
      method,
      url,
      method === 'POST' ? (JSON.parse(body.toString()) as unknown) : undefined,
    ]);
    expect(asked).toEqual([
      ['POST', '/v3/sign-in', {}],
      ['POST', '/v3/muse', { prompt: 'boats' }],
      [
        'POST',
        '/v3/words',
        { language: 'en', lines: 8, rhymes: true, about: 'boats', pass: 'p-1', muse: 'm-1' },
      ],
      ['GET', '/v3/tickets?jobId=t-1', undefined],
    ]);
  });

  it('names the stems that a model knows', async () => {
    const body = { model: 'song-add-stem', source_task_id: `task_${'0'.repeat(32)}` };
    expect(await desk.refused({ ...body, stem_type: 'bass' })).toMatchObject({
      param: 'stem_type',
      message: 'stem_type must be one of theremin, cello.',
    });
    expect(await desk.refused({ ...body, stem_type: 'theremin' })).toMatchObject({
      param: 'source_task_id',
    });
  });
});
