import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '../catalog/catalog-file.js';
import { judgedOverlay, problemsOfVideoModel } from '../../test/support/video-rows.js';

const SHIPPED = new URL('../../vendors/fal-music.json', import.meta.url);
const file = JSON.parse(readFileSync(SHIPPED, 'utf8')) as { submit: object };
const [SECOND, SONG] = ['requested_second', 'request'].map((unit) => ({ unit, micro_usd: 5 }));
const MUSIC = {
  id: 'aud-x',
  operation: 'composition',
  routes: [{ provider: 'fal-music', upstream_model: 'acme/music' }],
  price: SECOND,
};
const told = (says: string): string[] => [`CATALOG_FILE: model aud-x: ${says}`];

/** A folder with the shipped file, in which these parts are changed. */
function folderOf(parts: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'music-vendors-'));
  writeFileSync(join(folder, 'fal-music.json'), JSON.stringify({ ...file, ...parts }));
  return folder;
}

/** One whose file sends no length. */
const songs = () => folderOf({ submit: { ...file.submit, body: { tags: '{{prompt}}' } } });
/** One whose file sends whether there is no singing. */
const quiet = () =>
  folderOf({
    submit: {
      ...file.submit,
      body: {
        ...{ tags: '{{prompt}}', quiet: { $field: 'instrumental' } },
        duration: { $field: 'seconds' },
      },
    },
  });
/** One whose file sends it where there are lyrics. */
const halfTimed = () =>
  folderOf({
    submit: {
      ...{ ...file.submit, body: { tags: '{{prompt}}' } },
      variants: [
        { has: ['lyrics'], body: { tags: '{{prompt}}', l: '{{lyrics}}', s: '{{seconds}}' } },
      ],
    },
  });

describe('a row of music with a route to a vendor of a file', () => {
  it.each<[object, string | undefined]>([
    [{}, undefined],
    [{ rename: { prompt: 'tags' }, constants: { steps: 9 } }, undefined],
    [{ drop: ['lyrics'], price: SONG }, songs()],
    [{ price: SONG }, songs()],
  ])('with %j is taken where the file sends a length by the second alone', (row, folder) => {
    expect(problemsOfVideoModel({ ...MUSIC, ...row }, folder)).toEqual([]);
  });

  it.each<[object, string | undefined, string]>([
    [
      { price: SONG },
      undefined,
      'price.unit: must be requested_second: the file of provider fal-music sends seconds',
    ],
    [{}, songs(), 'price.unit: seconds is in no body of the file of provider fal-music'],
    [{}, halfTimed(), 'price.unit: seconds is in no body of the file of provider fal-music'],
    [
      { price: SONG },
      halfTimed(),
      'price.unit: must be requested_second: the file of provider fal-music sends seconds',
    ],
    [
      { constants: { duration: 60 } },
      undefined,
      'constants.duration: changes seconds, which callers pay for, at fal-music',
    ],
    [
      { drop: ['lyrics'] },
      undefined,
      'drop: lyrics: changes lyrics, which callers pay for, at fal-music',
    ],
    [
      { constants: { lyrics: 'La' } },
      undefined,
      'constants.lyrics: changes lyrics, which callers pay for, at fal-music',
    ],
    [
      { constants: { quiet: false } },
      quiet(),
      'constants.quiet: changes instrumental, which callers pay for, at fal-music',
    ],
    [
      { routes: [{ provider: 'fal-image', upstream_model: 'acme/music' }] },
      undefined,
      'routes.0.provider fal-image has a file for image, and no operation composition',
    ],
  ])('with %j is refused by one line that names row, provider and field', (row, folder, says) => {
    expect(problemsOfVideoModel({ ...MUSIC, ...row }, folder)).toEqual(told(says));
  });

  it('completes the model that the file offers', () => {
    const vendors = folderOf({
      models: [{ id: 'aud-x', upstream_model: 'acme/music', limits: {} }],
    });
    expect(problemsOfVideoModel({ id: 'aud-x', price: SECOND }, vendors)).toEqual([]);
    const row = loadCatalog(judgedOverlay, vendors).rows.find(({ id }) => id === 'aud-x');
    expect(row).toMatchObject({ operation: 'composition', routes: [{ provider: 'fal-music' }] });
  });
});
