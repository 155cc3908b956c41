import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SongDesk } from '../../support/song-desk.js';

const OVERLAY = {
  models: [{ id: 'song-add-stem', limits: { stem_types: ['theremin', 'cello'] } }],
};

let folder: string;
let desk: SongDesk;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shim-overlay-'));
  await writeFile(join(folder, 'catalog.json'), JSON.stringify(OVERLAY));
  desk = await SongDesk.start({ CATALOG_FILE: join(folder, 'catalog.json') });
});
afterAll(async () => {
  await desk.stop();
  await rm(folder, { recursive: true });
});

describe('CATALOG_FILE', () => {
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
