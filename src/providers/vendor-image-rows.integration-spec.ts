import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '../catalog/catalog-file.js';
import { TOKEN_PRICE } from '../../test/support/overlay-file.js';
import { judgedOverlay, problemsOfVideoModel } from '../../test/support/video-rows.js';

const SHIPPED = new URL('../../vendors/fal-image.json', import.meta.url);
const file = JSON.parse(readFileSync(SHIPPED, 'utf8')) as { submit: { body: object } };
const IMAGES = {
  id: 'img-x',
  operation: 'image',
  routes: [{ provider: 'fal-image', upstream_model: 'fal-ai/flux/dev' }],
  limits: { sizes: ['1024x768'] },
  price: { unit: 'request', micro_usd: 30_000 },
};
const byQuality = (...qualities: string[]) => ({
  ...{ unit: 'request', micro_usd: 1 },
  by_quality_size: qualities.map((quality) => ({ quality, size: '1024x768', micro_usd: 2 })),
});
const told = (says: string): string[] => [`CATALOG_FILE: model img-x: ${says}`];

/** A folder with the shipped file, in which these parts are changed. */
function folderOf(parts: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'image-vendors-'));
  writeFileSync(join(folder, 'fal-image.json'), JSON.stringify({ ...file, ...parts }));
  return folder;
}

/** A folder with the shipped file, whose body has these keys as well. */
const folderWith = (body: object): string =>
  folderOf({ submit: { ...file.submit, body: { ...file.submit.body, ...body } } });

describe('a row of images with a route to a vendor of a file', () => {
  it.each<object>([
    {},
    { limits: { sizes: ['1024x768', '512x512'], max_n: 4, output_formats: ['png', 'jpeg'] } },
    { constants: { num_inference_steps: 28 } },
    { drop: ['output_format'] },
  ])('with %j is taken by the file of fal', (row) => {
    expect(problemsOfVideoModel({ ...IMAGES, ...row })).toEqual([]);
  });

  it('with a quality is taken where the file sends it', () => {
    const row = { limits: { sizes: ['1024x768'], qualities: ['high'] }, price: byQuality('high') };
    const vendors = folderWith({ effort: { $field: 'quality', table: { high: 9 } } });
    expect(problemsOfVideoModel({ ...IMAGES, ...row }, vendors)).toEqual([]);
  });

  it.each<[object, string]>([
    [
      { limits: { sizes: ['square_hd'] } },
      'limits.sizes: size is in no body of the file of provider fal-image',
    ],
    [
      { limits: { sizes: ['1024x768'], qualities: ['high'] }, price: byQuality('high') },
      'limits.qualities: quality is in no body of the file of provider fal-image',
    ],
    [
      { limits: { sizes: ['1024x768'], backgrounds: ['opaque'] } },
      'limits.backgrounds: background is in no body of the file of provider fal-image',
    ],
    [
      { limits: { sizes: ['1024x768'], max_edit_images: 1 } },
      'limits.max_edit_images: the file of provider fal-image describes no edits',
    ],
    [
      { constants: { num_images: 4 } },
      'constants.num_images: changes count, which callers pay for, at fal-image',
    ],
    [
      { constants: { image_size: 'square_hd' } },
      'constants.image_size: changes width, which callers pay for, at fal-image',
    ],
    [
      { rename: { num_images: 'amount' } },
      'rename.num_images: changes count, which callers pay for, at fal-image',
    ],
    [
      { price: byQuality('high'), constants: { quality: 'high' } },
      'constants.quality: is priced, and the file of provider fal-image does not send it as quality',
    ],
    [
      { routes: [{ provider: 'fal', upstream_model: 'fal-ai/flux/dev' }] },
      'routes.0.provider fal has a file for video, and no operation image',
    ],
    [
      { operation: 'chat', limits: { max_output_tokens: 9 }, price: TOKEN_PRICE },
      'routes.0.provider speaks async-json, which has no operation chat',
    ],
  ])('with %j is refused by one line that names row, provider and field', (row, says) => {
    expect(problemsOfVideoModel({ ...IMAGES, ...row })).toEqual(told(says));
  });

  it.each<object>([{ drop: ['effort'] }, { constants: { effort: 9 } }])(
    'with %j is refused where the file sends the compression so',
    (terms) => {
      const vendors = folderWith({ effort: { $field: 'output_compression' } });
      const limits = { sizes: ['1024x768'], output_formats: ['jpeg'] };
      expect(problemsOfVideoModel({ ...IMAGES, limits, ...terms }, vendors)).toEqual([
        expect.stringContaining('changes output_compression, which callers pay for, at fal-image'),
      ]);
    },
  );

  it('completes the model that the file offers', () => {
    const limits = { sizes: ['1024x768'], output_formats: ['png'], max_n: 2 };
    const models = [{ id: 'img-x', upstream_model: 'fal-ai/flux/dev', limits }];
    const vendors = folderOf({ models });
    expect(problemsOfVideoModel({ id: 'img-x', price: IMAGES.price }, vendors)).toEqual([]);
    const row = loadCatalog(judgedOverlay, vendors).rows.find(({ id }) => id === 'img-x');
    expect(row).toMatchObject({
      ...{ operation: 'image', routes: [{ provider: 'fal-image' }] },
      limits: { sizes: ['1024x768'], outputFormats: ['png'], maxN: 2 },
    });
  });
});
