import { describe, expect, it } from '@jest/globals';
import {
  changedVendor,
  GOOD_VENDOR,
  VENDOR_MISTAKES,
} from '../../../test/support/vendor-mistakes.js';
import { vendorFaults } from './vendor-faults.js';

describe('the file of a vendor', () => {
  it('is taken where nothing is wrong with it', () => {
    expect(vendorFaults(GOOD_VENDOR)).toEqual([]);
  });

  it.each(VENDOR_MISTAKES)(
    'with %s %j is refused by one line that names it',
    (path, value, fault) => {
      expect(vendorFaults(changedVendor(path, value))).toEqual([fault]);
    },
  );

  it.each([null, [], 'text'])('that is %j is refused', (json) => {
    expect(vendorFaults(json)).toEqual(['the file: must be a JSON object']);
  });
});
