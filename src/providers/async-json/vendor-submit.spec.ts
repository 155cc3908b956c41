import { describe, expect, it } from '@jest/globals';
import type { UpstreamTerms } from '../ports/attempt.js';
import type { VendorFile } from './vendor-file.js';
import { submitOf, untakenFields } from './vendor-submit.js';
import type { VendorValues } from './vendor-template.js';

const URL_A = 'https://images.example/a.png';
const FIRST = { first_frame_url: URL_A };
const IMAGES = { image_urls: [URL_A] };
const EACH = [{ $each: 'image_urls', item: '{{item}}' }];

/** A vendor with paths of their own for texts, for frames and for images, and one model that takes both at once. */
const SUBMIT: VendorFile['submit'] = {
  path: '/text',
  body: { prompt: '{{prompt}}', ratio: '{{aspect_ratio}}' },
  variants: [
    {
      models: ['both*'],
      path: '/both',
      body: { prompt: '{{prompt}}', image: '{{first_frame_url}}', images: EACH },
      not_together: [],
    },
    {
      has: ['first_frame_url'],
      path: '/frames',
      body: { prompt: '{{prompt}}', image: '{{first_frame_url}}', ratio: '{{aspect_ratio}}' },
    },
    { has: ['image_urls'], path: '/images', body: { prompt: '{{prompt}}', images: EACH } },
    {
      has: ['audio'],
      path: '/sound',
      body: {
        prompt: '{{prompt}}',
        sound: { $field: 'audio', table: { true: 'on', false: 'off' } },
      },
    },
  ],
};
const values = (given: VendorValues): VendorValues => ({ model: 'one', prompt: 'Sea', ...given });
const pathOf = (given: VendorValues, terms?: UpstreamTerms) =>
  submitOf({ submit: SUBMIT }, values(given), terms).path;
const untaken = (given: VendorValues, submit = SUBMIT, terms?: UpstreamTerms) =>
  untakenFields({ submit }, values(given), terms);

describe('the variant of a submission', () => {
  it.each<[VendorValues, UpstreamTerms | undefined, string]>([
    [{}, undefined, '/text'],
    [FIRST, undefined, '/frames'],
    [IMAGES, undefined, '/images'],
    [{ audio: false }, undefined, '/sound'],
    [{}, { constants: { sound: 'on' } }, '/sound'],
    [{}, { rename: { sound: 'noise' }, constants: { noise: 'on' } }, '/sound'],
    [{}, { rename: { sound: 'noise' }, constants: { sound: 'on' } }, '/text'],
    [{}, { constants: { seed: 7 } }, '/text'],
    [{}, { constants: { prompt: 'x' } }, '/text'],
    [{}, { constants: { image: URL_A } }, '/frames'],
    [{ model: 'both-1', ...FIRST }, undefined, '/both'],
  ])('for %j with the terms %j is that of %s', (given, terms, path) => {
    expect(pathOf(given, terms)).toBe(path);
  });
});

describe('what of a request cannot be sent', () => {
  it.each<[VendorValues, string[]]>([
    [{}, []],
    [{ aspect_ratio: '1:1' }, []],
    [{ ...FIRST, aspect_ratio: '1:1' }, []],
    [{ ...FIRST, ...IMAGES }, ['image_urls', 'first_frame_url']],
    [{ ...IMAGES, aspect_ratio: '1:1' }, ['aspect_ratio', 'image_urls']],
    [{ size: '1x1' }, ['size']],
    [{ audio: 'loud' }, ['audio']],
    [{ model: 'both-1', ...FIRST, ...IMAGES }, []],
  ])('%j: %j', (given, fields) => {
    expect(untaken(given)).toEqual(fields);
  });

  it('is a field that the variant of a constant leaves out', () => {
    const terms = { constants: { sound: 'on' } };
    expect(untaken({ aspect_ratio: '1:1' }, SUBMIT, terms)).toEqual(['aspect_ratio']);
  });

  it('is each pair that the file keeps apart, unless the variant has a list of its own', () => {
    const body = { prompt: '{{prompt}}', image: '{{first_frame_url}}', images: EACH };
    const apart: VendorFile['submit'] = {
      path: '/',
      body,
      not_together: [['first_frame_url', 'image_urls']],
      variants: [
        { models: ['free'], not_together: [] },
        { models: ['other'], path: '/other' },
      ],
    };
    const both = { ...FIRST, ...IMAGES };
    expect(untaken(FIRST, apart)).toEqual([]);
    expect(untaken(IMAGES, apart)).toEqual([]);
    expect(untaken(both, apart)).toEqual(['first_frame_url', 'image_urls']);
    expect(untaken({ ...both, model: 'other' }, apart)).toEqual(['first_frame_url', 'image_urls']);
    expect(untaken({ ...both, model: 'free' }, apart)).toEqual([]);
    const terms = { constants: { image: 'https://a.example/1.png' } };
    expect(untaken(IMAGES, apart, terms)).toEqual(['first_frame_url', 'image_urls']);
  });
});
