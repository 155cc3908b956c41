import { expect, it } from '@jest/globals';
import { fairnessBucketOf } from './fairness-bucket.js';

const GUESSING = '203.0.113.9';
const bucketOf = fairnessBucketOf(
  { accountOf: (key) => (key === 'sk-seen' ? 'account-1' : undefined) },
  { waitMs: (address) => (address === GUESSING ? 1 : 0) },
);

it.each([
  ['a key that was seen', 'Bearer sk-seen', '192.0.2.1', 'account-1'],
  ['a key that was seen, from an address that guesses', 'Bearer sk-seen', GUESSING, 'account-1'],
  ['a key used for the first time', 'Bearer sk-new', '192.0.2.1', 'new'],
  ['an unknown key from an address that guesses', 'Bearer sk-new', GUESSING, 'nobody'],
  ['no key', undefined, '192.0.2.1', 'nobody'],
  ['another scheme', 'Basic c2stc2Vlbg==', '192.0.2.1', 'nobody'],
])('a request with %s belongs to its fairness bucket', (_what, authorization, ip, bucket) => {
  expect(bucketOf({ headers: { authorization }, ip, path: '/v1/models' })).toBe(bucket);
});
