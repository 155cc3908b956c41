import { isIPv6 } from 'node:net';

/** Whose address it is, for counting: one customer has 2^64 addresses of IPv6, which count as one. */
export function networkOf(address = ''): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = ''] = address.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  // What `::` leaves out is zeros.
  return [...groups, '0', '0', '0', '0'].slice(0, 4).join(':');
}
