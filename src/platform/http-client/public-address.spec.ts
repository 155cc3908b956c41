import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { isPublicAddress } from './public-address.js';

describe('isPublicAddress', () => {
  it.each(['1.1.1.1', '9.255.255.255', '172.32.0.0', '223.255.255.255', '2606:4700:4700::1111'])(
    'holds for %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it.each([
    '127.0.0.1',
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '168.63.129.16',
    '169.254.169.254',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:1.1.1.1',
    '64:ff9b::101:101',
    '2002:101:101::1',
    '4000::1',
    'fd00::1',
    'fe80::1',
    '2606:4700:4700::1111%eth0',
    '0177.0.0.1',
    '2130706433',
    'example.com',
    '',
  ])('does not hold for %j', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it('holds for nothing that an independent registry of ranges calls special', () => {
    const agrees = (address: string): boolean =>
      !isPublicAddress(address) || ipaddr.parse(address).range() === 'unicast';
    fc.assert(fc.property(fc.ipV4(), agrees));
    fc.assert(fc.property(fc.ipV6(), agrees));
  });
});
