import { isIPv6 } from 'node:net';

/** The network that an address is counted under: a /64 for IPv6, because one customer can have 2^64 addresses. */
export function ipPrefixOf(address = ''): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = ''] = address.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  // `::` stands for zeros.
  return [...groups, '0', '0', '0', '0'].slice(0, 4).join(':');
}
