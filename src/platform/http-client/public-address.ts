import { BlockList, isIP } from 'node:net';

/**
 * IPv4 that is not global unicast (IANA special-purpose registry), and one public address that a cloud uses internally.
 */
const NON_PUBLIC_IPV4: readonly [address: string, prefix: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT; also a cloud's metadata address
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // Azure's wire server
  ['169.254.0.0', 16], // link-local, most metadata services
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** The only IPv6 space that is assigned so far. Mapped, compatible, NAT64, ULA and link-local addresses are outside. */
const GLOBAL_IPV6: readonly [address: string, prefix: number][] = [['2000::', 3]];

/** Special blocks inside the global IPv6 space. */
const NON_PUBLIC_IPV6: readonly [address: string, prefix: number][] = [
  ['2001::', 23], // Teredo, benchmarking, ORCHID, AS112
  ['2001:db8::', 32],
  ['2002::', 16], // a 6to4 address contains any IPv4 address
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
];

const rejected = new BlockList();
for (const [address, prefix] of NON_PUBLIC_IPV4) rejected.addSubnet(address, prefix, 'ipv4');
for (const [address, prefix] of NON_PUBLIC_IPV6) rejected.addSubnet(address, prefix, 'ipv6');
const globalIpv6 = new BlockList();
for (const [address, prefix] of GLOBAL_IPV6) globalIpv6.addSubnet(address, prefix, 'ipv6');

/**
 * Whether an IP literal is a public, global unicast address (decision G-43). Everything that is not known as public
 * counts as not public: other text, unusual spellings of IPv4, and an IPv6 zone id. `new URL` converts spellings to the
 * standard form.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !rejected.check(address, 'ipv4');
  if (family !== 6 || address.includes('%')) return false;
  return globalIpv6.check(address, 'ipv6') && !rejected.check(address, 'ipv6');
}
