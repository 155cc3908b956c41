import { describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import {
  judgedOverlay,
  NO_IMAGE_URLS,
  PRICED_BY_LENGTH,
  pricedBySecond,
  problemsOfVideoModel,
  problemsOfVideoRow,
} from '../../test/support/video-rows.js';
import { loadCatalog, pricedModels } from '../catalog/catalog-file.js';
import { modelsOfVendors } from './providers.js';

/** A model that the file of Luma offers. */
const OFFERED = 'vid-luma-ray-2';
const told = (says: string): string[] => [`CATALOG_FILE: model vid-x: ${says}`];

describe('a row of videos with a route to a vendor of a file', () => {
  it.each<[string, object]>([
    ['kling', { limits: { ...NO_IMAGE_URLS, aspect_ratios: ['1:1'], frames: ['first', 'last'] } }],
    [
      'runway',
      { limits: { ...NO_IMAGE_URLS, aspect_ratios: ['16:9', '9:16'], frames: ['first'] } },
    ],
    ['minimax-video', { limits: { max_image_urls: 4, frames: ['first', 'last'] } }],
    [
      'byteplus-video',
      {
        price: pricedBySecond(['720p', false], ['720p', true]),
        limits: { ...NO_IMAGE_URLS, resolutions: ['720p'], audio: true },
      },
    ],
    [
      'byteplus-video',
      { price: pricedBySecond(['720p', false]), constants: { resolution: '720p', seed: 7 } },
    ],
    ['kling', { constants: { negative_prompt: 'text', sound: 'off' } }],
  ])('is taken where the file of %s takes all of %j', (provider, row) => {
    expect(problemsOfVideoRow(provider, row)).toEqual([]);
  });

  it.each<[string, object, string]>([
    [
      'runway',
      { limits: { ...NO_IMAGE_URLS, aspect_ratios: ['16:9', '1:1'] } },
      'limits.aspect_ratios: aspect_ratio 1:1 is not taken by the file of provider runway',
    ],
    [
      'kling',
      {
        price: pricedBySecond(['720p', false], ['1080p', false]),
        limits: { ...NO_IMAGE_URLS, resolutions: ['720p', '1080p'] },
      },
      'limits.resolutions: resolution is in no body of the file of provider kling',
    ],
    [
      'kling',
      { limits: { max_image_urls: 1 } },
      'limits.max_image_urls: image_urls is in no body of the file of provider kling',
    ],
    [
      'xai-video',
      { limits: { ...NO_IMAGE_URLS, audio: true } },
      'limits.audio: audio is in no body of the file of provider xai-video',
    ],
    [
      'fal',
      { limits: { ...NO_IMAGE_URLS, frames: ['first', 'last'] } },
      'limits.frames: last_frame_url is in no body of the file of provider fal',
    ],
    [
      'luma',
      { limits: { ...NO_IMAGE_URLS, size_pattern: '^\\d+x\\d+$' } },
      'limits.size_pattern: size is in no body of the file of provider luma',
    ],
    [
      'fal',
      { drop: ['duration'] },
      'drop: duration: changes seconds, which callers pay for, at fal',
    ],
    [
      'fal',
      { rename: { duration: 'length' } },
      'rename.duration: changes seconds, which callers pay for, at fal',
    ],
    [
      'fal',
      { rename: { seed: 'duration' } },
      'rename.seed: changes seconds, which callers pay for, at fal',
    ],
    [
      'byteplus-video',
      { price: pricedBySecond(['720p', false]), constants: { generate_audio: true } },
      'constants.generate_audio: changes audio, which callers pay for, at byteplus-video',
    ],
    [
      'replicate',
      { price: pricedBySecond(['720p', false]), constants: { resolution: '720p' } },
      'constants.resolution: is priced, and the file of provider replicate does not send it as resolution',
    ],
    [
      'kling',
      { limits: { ...NO_IMAGE_URLS, aspect_ratios: ['1:1'] }, drop: ['aspect_ratio'] },
      'drop: aspect_ratio: changes aspect_ratio, which callers pay for, at kling',
    ],
  ])('at %s with %j is refused by one line that names row, vendor and field', (id, row, says) => {
    expect(problemsOfVideoRow(id, row)).toEqual(told(says));
  });

  const offered = [...modelsOfVendors(undefined).values()];
  const videos = offered.flatMap((model) => (model.operation === 'video' ? [model] : []));

  it.each(videos.map((model) => [model.id, model] as const))(
    'that a shipped file offers is sold with a price alone: %s',
    (id, { limits, routes, ...model }) => {
      const price = pricedBySecond(
        ...(limits.resolutions ?? ['720p']).map((each) => [each, false] as [string, boolean]),
      );
      expect(problemsOfVideoModel({ id })).toEqual([
        `CATALOG_FILE: models.0: price is required for a new model (model ${id})`,
      ]);
      expect(problemsOfVideoModel({ id, price })).toEqual([]);
      const row = loadCatalog(judgedOverlay).rows.find((one) => one.id === id);
      expect(row).toMatchObject({ ...model, limits, routes });
      expect(loadCatalog(undefined).rows.some((one) => one.id === id)).toBe(false);
    },
  );

  it.each<[string, object]>([
    ['only a price', {}],
    [
      'a route to the vendor beside others',
      {
        routes: [
          { provider: 'kling', upstream_model: 'a' },
          { provider: 'luma', upstream_model: 'ray-2' },
        ],
      },
    ],
  ])('with %s completes the model of the file that has its id', (_what, row) => {
    const limits = { resolutions: ['720p'] };
    const price = pricedBySecond(['720p', false]);
    writeFileSync(
      judgedOverlay,
      JSON.stringify({ models: [{ id: OFFERED, price, limits, ...row }] }),
    );
    const found = loadCatalog(judgedOverlay).rows.find(({ id }) => id === OFFERED);
    expect(found?.limits).toMatchObject({
      resolutions: ['720p'],
      aspectRatios: ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', '9:21'],
      frames: ['first', 'last'],
    });
  });

  it('with routes to other providers takes nothing from a file that offers its id', () => {
    const routes = [{ provider: 'byteplus-video', upstream_model: 'a' }];
    const row = { id: OFFERED, routes, price: PRICED_BY_LENGTH };
    const own = `(model ${OFFERED}, a row of its own: it has no route to luma)`;
    expect(problemsOfVideoModel(row)).toEqual([
      `CATALOG_FILE: models.0: operation is required for a new model ${own}`,
    ]);
    expect(problemsOfVideoModel({ ...row, operation: 'video' })).toEqual([
      `CATALOG_FILE: models.0: limits.max_image_urls is required ${own}`,
    ]);
    const limits = { max_image_urls: 2 };
    expect(problemsOfVideoModel({ ...row, operation: 'video', limits })).toEqual([]);
    const found = loadCatalog(judgedOverlay).rows.find(({ id }) => id === OFFERED);
    expect(found).toEqual({
      id: OFFERED,
      operation: 'video',
      price: expect.anything(),
      routes: [{ provider: 'byteplus-video', upstreamModel: 'a' }],
      limits: { maxImageUrls: 2 },
      enabled: true,
    });
    expect([
      pricedModels(judgedOverlay, 'luma'),
      pricedModels(judgedOverlay, 'byteplus-video'),
    ]).toEqual([new Set(), new Set([OFFERED])]);
  });
});
