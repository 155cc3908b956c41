import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  NO_IMAGE_URLS,
  PRICED_BY_LENGTH,
  pricedBySecond,
  problemsOfVideoRow,
} from '../../test/support/video-rows.js';
import type { VendorFile } from './async-json/vendor-file.js';

const told = (says: string): string[] => [`CATALOG_FILE: model vid-x: ${says}`];

/** The folder of a vendor `acme` that is submitted so. */
function acme(submit: VendorFile['submit']): string {
  const folder = mkdtempSync(join(tmpdir(), 'vendors-'));
  const file = {
    ...{ id: 'acme', protocol: 'async-json', key_env: 'ACME_KEY' },
    ...{ base_url: 'https://api.acme.test', auth: { in: 'bearer' }, submit },
    read: {
      ...{ path: '/videos/{id}', state: 'state' },
      states: { succeeded: ['done'], failed: ['failed'] },
    },
    result: { url: ['video'] },
  };
  writeFileSync(join(folder, 'acme.json'), JSON.stringify(file));
  return folder;
}

describe('a row of videos with a route to a vendor of a file', () => {
  it('that sells several lengths or by second needs them in the body', () => {
    const body = { prompt: '{{prompt}}', resolution: '{{resolution}}' };
    const folder = acme({ path: '/videos', body, id: 'id' });
    const says = told('price.by_seconds: seconds is in no body of the file of provider acme');
    const one = { ...PRICED_BY_LENGTH, by_seconds: PRICED_BY_LENGTH.by_seconds.slice(0, 1) };
    expect(problemsOfVideoRow('acme', {}, folder)).toEqual(says);
    expect(problemsOfVideoRow('acme', { price: one }, folder)).toEqual([]);
    const price = { ...pricedBySecond(['720p', false]), by_seconds: one.by_seconds };
    const limits = { ...NO_IMAGE_URLS, resolutions: ['720p'] };
    expect(problemsOfVideoRow('acme', { price, limits }, folder)).toEqual(says);
  });

  describe('whose variants differ', () => {
    const length = { $field: 'seconds', as: 'integer' } as const;
    const sound = { $field: 'audio', as: 'boolean' } as const;
    const seconds = { prompt: '{{prompt}}', duration: length };
    const folder = acme({
      ...{ path: '/videos', id: 'id', body: { ...seconds, resolution: '{{resolution}}' } },
      variants: [
        { has: ['audio'], path: '/sounding', body: { ...seconds, sound } },
        {
          has: ['first_frame_url'],
          path: '/framed',
          body: { ...seconds, image: '{{first_frame_url}}' },
        },
      ],
    });
    const priced = { price: pricedBySecond(['720p', false]) };

    it('is refused where the variant of a constant carries no choice of the row', () => {
      const limits = { ...NO_IMAGE_URLS, resolutions: ['720p'] };
      const row = { price: pricedBySecond(['720p', true]), limits, constants: { sound: true } };
      expect(problemsOfVideoRow('acme', row, folder)).toEqual(
        told('limits.resolutions: resolution is in no body of the file of provider acme'),
      );
      expect(problemsOfVideoRow('acme', { ...priced, limits }, folder)).toEqual([]);
    });

    it('is refused where a constant that has a price is in one body, and another is sent', () => {
      const row = { ...priced, constants: { resolution: '720p' } };
      const says =
        'constants.resolution: is priced, and the file of provider acme does not send it as resolution';
      expect(problemsOfVideoRow('acme', row, folder)).toEqual([]);
      const framed = { ...row, limits: { ...NO_IMAGE_URLS, frames: ['first'] } };
      expect(problemsOfVideoRow('acme', framed, folder)).toEqual(told(says));
      const sounding = { ...row, constants: { resolution: '720p', sound: false } };
      expect(problemsOfVideoRow('acme', sounding, folder)).toEqual(told(says));
    });

    it('is taken with fields that the file keeps apart', () => {
      const body = { ...seconds, ratio: '{{aspect_ratio}}', image: '{{first_frame_url}}' };
      const apart = acme({
        ...{ path: '/videos', id: 'id', body },
        not_together: [['aspect_ratio', 'first_frame_url']],
        variants: [
          { has: ['first_frame_url'], body: { ...seconds, image: '{{first_frame_url}}' } },
        ],
      });
      const limits = { ...NO_IMAGE_URLS, aspect_ratios: ['1:1'], frames: ['first'] };
      expect(problemsOfVideoRow('acme', { limits }, apart)).toEqual([]);
    });
  });
});
