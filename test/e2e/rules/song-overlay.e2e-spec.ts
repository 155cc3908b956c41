import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SongHarness } from '../../support/song-harness.js';

const OVERLAY = {
  models: [{ id: 'song-add-stem', limits: { stem_types: ['theremin', 'cello'] } }],
};

let folder: string;
let harness: SongHarness;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shim-overlay-'));
  await writeFile(join(folder, 'catalog.json'), JSON.stringify(OVERLAY));
  harness = await SongHarness.start({ CATALOG_FILE: join(folder, 'catalog.json') });
});
afterAll(async () => {
  await harness.stop();
  await rm(folder, { recursive: true });
});

describe('CATALOG_FILE', () => {
  it('lists the stems of a model', async () => {
    const body = { model: 'song-add-stem', source_task_id: `task_${'0'.repeat(32)}` };
    expect(await harness.refused({ ...body, stem_type: 'bass' })).toMatchObject({
      param: 'stem_type',
      message: 'stem_type must be one of theremin, cello.',
    });
    expect(await harness.refused({ ...body, stem_type: 'theremin' })).toMatchObject({
      param: 'source_task_id',
    });
  });
});
