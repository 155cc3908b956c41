import { describe, expect, it } from '@jest/globals';
import {
  changedVendor,
  GOOD_VENDOR,
  VENDOR_MISTAKES,
} from '../../../test/support/vendor-mistakes.js';
import { vendorFaults } from './vendor-faults.js';

/** The good file, whose jobs are looked up by what this changes. */
function withLookUp(parts: object): object {
  const { submit } = GOOD_VENDOR;
  return {
    ...GOOD_VENDOR,
    submit: { ...submit, body: { ...submit.body, own: '{{reference}}' } },
    lookup: { path: '/own/{reference}', id: 'id', reference: 'own', absent: [], ...parts },
  };
}

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

  it.each<[string, object, string]>([
    ['a path without the reference', { path: '/v' }, 'lookup.path: must hold {reference}'],
    ['more without items', { more: 'next' }, 'lookup.more: goes with lookup.items'],
    [
      'absence without items',
      { absent_when_missing: true },
      'lookup.absent_when_missing: goes with lookup.items',
    ],
    [
      'absence from a page of all jobs',
      { path: '/v', items: 'data', absent_when_missing: true },
      'lookup.absent_when_missing: needs lookup.more, or {reference} in lookup.path',
    ],
    ['a time too', { made_at: 'at' }, 'lookup.made_at: does not fit lookup.reference'],
    ['fields too', { same: { text: '{{prompt}}' } }, 'lookup.same: does not fit lookup.reference'],
  ])('whose look-up has %s is refused', (_what, parts, fault) => {
    expect(vendorFaults(withLookUp(parts))).toEqual([fault]);
  });

  it.each([
    {},
    { path: '/v', items: 'data' },
    { items: 'data', absent_when_missing: true },
    { path: '/v', items: 'data', more: 'next', absent_when_missing: true },
    { absent_when_missing: false },
  ])('may have a look-up with %j', (parts) => {
    expect(vendorFaults(withLookUp(parts))).toEqual([]);
  });

  it('may have a look-up by time without the reference in its bodies', () => {
    const length = { $field: 'seconds', as: 'integer' };
    const same = { 'input.text': '{{prompt}}', 'input.length': length, source: 'api' };
    const lookup = { path: '/v', items: 'data', id: 'id', made_at: 'at', same, absent: [] };
    expect(vendorFaults({ ...GOOD_VENDOR, lookup })).toEqual([]);
  });

  it('whose vendor gives the URLs of jobs has no path that stops or deletes one', () => {
    const { submit, read } = GOOD_VENDOR;
    const ended = (parts: object) =>
      vendorFaults({
        ...GOOD_VENDOR,
        submit: { path: submit.path, body: submit.body, read_url: 'url' },
        read: { state: read.state, states: read.states },
        ...parts,
      });
    const path = { method: 'DELETE', path: '/videos/{id}' };
    expect(ended({ cancel: path })).toEqual(['cancel.path: does not fit submit.read_url']);
    expect(ended({ delete: path })).toEqual(['delete.path: does not fit submit.read_url']);
    expect(ended({ cancel: { method: 'PUT', given: 'cancel_url' } })).toEqual([]);
  });

  it.each([null, [], 'text'])('that is %j is refused', (json) => {
    expect(vendorFaults(json)).toEqual(['the file: must be a JSON object']);
  });
});
