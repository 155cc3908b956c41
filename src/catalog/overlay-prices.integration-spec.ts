import { describe, expect, it } from '@jest/globals';
import { overlay, problemsOf as problemsOfOverlay } from '../../test/support/overlay-file.js';
import { loadCatalog } from './catalog-file.js';

const TOKENS = { unit: 'token', input_micro_usd_per_million: 10, output_micro_usd_per_million: 50 };
const VIDEO = { unit: 'video', by_seconds: [{ seconds: '5', micro_usd: 7 }] };

const loaded = (id: string, price: object) =>
  loadCatalog(overlay({ models: [{ id, price }] })).rows.find((row) => row.id === id)?.price;
const problemsOf = (id: string, price: object) => problemsOfOverlay({ models: [{ id, price }] });

describe('a price in the overlay', () => {
  it('has a line for each kind of tokens, and tiers in order', () => {
    const tiers = [
      { above_input_tokens: 500_000, cached_input_micro_usd_per_million: 3 },
      { above_input_tokens: 200_000, input_micro_usd_per_million: 20 },
    ];
    const lines = {
      cached_input_micro_usd_per_million: 1,
      cache_write_micro_usd_per_million: 12,
      cache_write_1h_micro_usd_per_million: 20,
      image_input_micro_usd_per_million: 0,
    };
    expect(loaded('gen-5', { ...TOKENS, ...lines, tiers })).toEqual({
      unit: 'token',
      inputMicroUsdPerMillion: 10n,
      cachedInputMicroUsdPerMillion: 1n,
      cacheWriteMicroUsdPerMillion: 12n,
      cacheWrite1hMicroUsdPerMillion: 20n,
      imageInputMicroUsdPerMillion: 0n,
      outputMicroUsdPerMillion: 50n,
      tiers: [
        { aboveInputTokens: 200_000, inputMicroUsdPerMillion: 20n },
        { aboveInputTokens: 500_000, cachedInputMicroUsdPerMillion: 3n },
      ],
    });
  });

  it('with the two lines of before has no others: the cached price of the built-in model goes with it', () => {
    expect(loaded('gen-5', TOKENS)).toEqual({
      unit: 'token',
      inputMicroUsdPerMillion: 10n,
      outputMicroUsdPerMillion: 50n,
    });
  });

  it('of images goes by quality and size, of videos by resolution and sound', () => {
    const byQualitySize = [{ quality: 'high', size: '1024x1024', micro_usd: 9 }];
    expect(
      loaded('gen-image-2', { unit: 'request', micro_usd: 5, by_quality_size: byQualitySize }),
    ).toEqual({
      unit: 'request',
      microUsd: 5n,
      byQualitySize: [{ quality: 'high', size: '1024x1024', microUsd: 9n }],
    });
    const perSecond = [{ resolution: '1080p', sound: true, micro_usd_per_second: 3 }];
    expect(loaded('vid-omni', { ...VIDEO, per_second: perSecond })).toEqual({
      unit: 'video',
      microUsdBySeconds: { '5': 7n },
      perSecond: [{ resolution: '1080p', sound: true, microUsdPerSecond: 3n }],
    });
  });

  const choosing = (limits: object, perSecond: readonly object[], more: object = {}) =>
    problemsOfOverlay({
      models: [{ id: 'vid-omni', limits, price: { ...VIDEO, per_second: perSecond }, ...more }],
    });
  const at = (resolution: string, sound: boolean) => ({
    resolution,
    sound,
    micro_usd_per_second: 3,
  });

  it('of a video has one per second for everything that its limits let callers choose', () => {
    const both = [at('720p', false), at('720p', true)];
    expect(choosing({ resolutions: ['720p'] }, both)).toEqual([]);
    expect(choosing({ resolutions: ['720p'], audio: true }, both)).toEqual([]);
    expect(choosing({ audio: true }, both, { constants: { resolution: '720p' } })).toEqual([]);
  });

  it.each<[object, readonly object[], object, RegExp]>([
    [
      { resolutions: ['720p', '1080p'] },
      [at('720p', false)],
      {},
      /per_second has no price for resolution 1080p, sound false/,
    ],
    [
      { resolutions: ['720p'], audio: true },
      [at('720p', false)],
      {},
      /no price for resolution 720p, sound true/,
    ],
    [
      { audio: true },
      [at('720p', true)],
      { constants: { resolution: '720p' } },
      /no price for resolution 720p, sound false/,
    ],
    [
      { resolutions: ['720p'] },
      [at('720p', false)],
      { constants: { resolution: '720p' } },
      /limits\.resolutions must not stand beside a constant/,
    ],
    [
      { audio: true },
      [at('720p', false)],
      { constants: { sound: true } },
      /limits\.audio must not stand beside a constant/,
    ],
    [
      { resolutions: ['720p'] },
      [at('720p', false)],
      { drop: ['resolution'] },
      /limits\.resolutions must not stand beside a constant/,
    ],
    [{ frames: ['last'] }, [at('720p', false)], {}, /frames must be \["first"\] or/],
    [{ resolutions: [] }, [at('720p', false)], {}, /resolutions/],
  ])('is refused for limits %j with the prices %j beside %j', (limits, perSecond, more, says) => {
    expect(choosing(limits, perSecond, more)).toEqual([expect.stringMatching(says)]);
  });

  const imagePrices = (qualities: readonly string[]) =>
    qualities.map((quality) => ({ quality, size: '1x1', micro_usd: 3 }));
  const choosingImages = (
    limits: object,
    rows: readonly object[],
    constants?: object,
    terms = {},
  ) =>
    problemsOfOverlay({
      models: [
        {
          id: 'gen-own',
          operation: 'image',
          routes: [],
          limits: { sizes: ['1x1'], ...limits },
          price: {
            unit: 'request',
            micro_usd: 5,
            ...(rows.length > 0 && { by_quality_size: rows }),
          },
          ...(constants && { constants }),
          ...terms,
        },
      ],
    });

  it('of an image has one for each quality and size that its limits let callers choose', () => {
    const qualities = ['low', 'high'];
    expect(choosingImages({ qualities }, imagePrices(qualities))).toEqual([]);
    expect(choosingImages({ output_formats: ['png'], max_n: 10, max_edit_images: 16 }, [])).toEqual(
      [],
    );
  });

  it.each<[object, readonly object[], object | undefined, RegExp]>([
    [
      { qualities: ['low', 'high'] },
      imagePrices(['low']),
      undefined,
      /by_quality_size has no price for quality high, size 1x1/,
    ],
    [
      { qualities: ['low'] },
      imagePrices(['low']),
      { quality: 'low' },
      /limits\.qualities must not stand beside a constant quality/,
    ],
    [
      { backgrounds: ['opaque'] },
      [],
      { background: 'opaque' },
      /limits\.backgrounds must not stand beside a constant background/,
    ],
    [
      { output_formats: ['png'] },
      [],
      { output_format: 'png' },
      /limits\.output_formats must not stand beside/,
    ],
    [
      { qualities: ['low'] },
      imagePrices(['low']),
      { size: '2x2' },
      /by_quality_size has no price for quality low, size 2x2/,
    ],
    [{ output_formats: ['gif'] }, [], undefined, /output_formats/],
    [{ max_n: 11 }, [], undefined, /max_n must be a whole number from 1 to 10/],
    [{ max_edit_images: 17 }, [], undefined, /max_edit_images must be .* 1 to 16/],
  ])('of images is refused for limits %j, prices %j, constants %j', (limits, rows, own, says) => {
    expect(choosingImages(limits, rows, own)).toEqual([expect.stringMatching(says)]);
  });

  it.each([{ drop: ['quality'] }, { rename: { quality: 'q' }, constants: { q: 'low' } }])(
    'of images is refused where the provider does not get the quality that is paid for: %j',
    (terms) => {
      const own = choosingImages({ qualities: ['low'] }, imagePrices(['low']), undefined, terms);
      expect(own).toEqual([expect.stringMatching(/limits\.qualities must not stand beside/)]);
    },
  );

  const tier = { above_input_tokens: 5, input_micro_usd_per_million: 1 };
  const perSecond = { resolution: '1080p', sound: true, micro_usd_per_second: 3 };
  const image = { quality: 'high', size: '1x1', micro_usd: 3 };
  it.each<[string, object, RegExp]>([
    ['gen-5', { ...TOKENS, tiers: [tier, tier] }, /price\.tiers has two entries .* \(5\)/],
    ['gen-5', { ...TOKENS, tiers: [] }, /tiers must/],
    ['gen-5', { ...TOKENS, tiers: [{ input_micro_usd_per_million: 1 }] }, /above_input_tokens/],
    ['gen-5', { ...TOKENS, tiers: [{ ...tier, above_input_tokens: 0 }] }, /above_input_tokens/],
    ['gen-5', { ...TOKENS, tiers: [{ ...tier, output_micro_usd_per_million: 0 }] }, /output_micro/],
    ['gen-5', { ...TOKENS, tiers: [{ ...tier, price: 1 }] }, /price/],
    ['gen-5', { ...TOKENS, cached_input_micro_usd_per_million: -1 }, /cached_input_micro/],
    ['gen-5', { ...TOKENS, cached_input_micro_usd_per_million: '1' }, /cached_input_micro/],
    ['gen-5', { ...TOKENS, image_input_micro_usd_per_million: 1e15 }, /price\.image_input.* large/],
    [
      'gen-5',
      { ...TOKENS, tiers: [{ ...tier, cache_write_micro_usd_per_million: 1e12 }] },
      /price\.tiers \(above 5\): cache_write_micro_usd_per_million is too large/,
    ],
    ['aud-v4', { unit: 'code_point', micro_usd: 1, tiers: [tier] }, /price\.tiers does not fit/],
    ['song-music', { unit: 'request', micro_usd: 1, by_quality_size: [image] }, /does not fit/],
    [
      'gen-image-2',
      { unit: 'request', micro_usd: 1, by_quality_size: [image, image] },
      /two entries with the same quality and size \(high, 1x1\)/,
    ],
    [
      'gen-image-2',
      { unit: 'request', micro_usd: 1, by_quality_size: [{ ...image, micro_usd: 9e15 }] },
      /by_quality_size \(high, 1x1\) is too large/,
    ],
    ['vid-omni', { ...VIDEO, per_second: [perSecond, perSecond] }, /same resolution and sound/],
    ['vid-omni', { unit: 'video', per_second: [perSecond] }, /price\.by_seconds is required/],
    ['vid-omni', { ...VIDEO, per_second: [{ ...perSecond, sound: 'yes' }] }, /sound/],
    [
      'vid-omni',
      { ...VIDEO, per_second: [{ ...perSecond, micro_usd_per_second: 9e14 }] },
      /per_second \(1080p\) is too large/,
    ],
  ])('of %s is refused with its field: %j', (id, price, problem) => {
    const problems = problemsOf(id, price);
    expect(problems.join('\n')).toMatch(problem);
    expect(problems.join('\n')).toContain(`(model ${id})`);
  });
});
