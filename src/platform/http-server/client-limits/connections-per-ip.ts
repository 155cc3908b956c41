import type { Server } from 'node:http';
import { BlockList, type Socket, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Quota } from '../../fairness/quota.js';

/** How many connections a client may have open, and which addresses do not count as clients. */
export interface ConnectionsPerIpOptions {
  /** Connections of one address at once; 0 = no limit. */
  readonly perAddress: number;
  /** Addresses and networks of proxies, which open connections for many clients. */
  readonly proxies: readonly string[];
  /** Called with the address whose connection was refused. */
  readonly onRefused: (address: string) => void;
}

/** Addresses of this machine: mostly a proxy or the operator. */
export const LOOPBACK_NETWORKS = ['127.0.0.0/8', '::1'];

/**
 * Refuses connections of an address that has too many open, so that no client can use up the connections of the
 * process. Call it once, before the server listens.
 */
export function limitConnectionsPerIp(server: Server, options: ConnectionsPerIpOptions): void {
  const { perAddress, onRefused } = options;
  if (perAddress === 0) return;
  const proxies = blockListOf(options.proxies);
  const open = new Quota({ perBucket: perAddress });
  server.on('connection', (socket: Socket) => {
    const { remoteAddress, remoteFamily } = socket;
    // A client that has disconnected already has no address.
    if (remoteAddress === undefined) return;
    if (proxies.check(remoteAddress, remoteFamily === 'IPv6' ? 'ipv6' : 'ipv4')) return;
    const client = ipPrefixOf(remoteAddress);
    if (!open.tryAcquire(client)) {
      socket.destroy();
      onRefused(remoteAddress);
      return;
    }
    socket.on('close', () => {
      open.release(client);
    });
  });
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address, prefix] = ipaddr.isValidCIDR(network)
      ? ipaddr.parseCIDR(network)
      : [ipaddr.parse(network), undefined];
    const family = address.kind();
    if (prefix === undefined) list.addAddress(address.toString(), family);
    else list.addSubnet(address.toString(), prefix, family);
  }
  return list;
}

/** The network that an address is counted under: a /64 for IPv6, because one customer can have 2^64 addresses. */
export function ipPrefixOf(address = ''): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = ''] = address.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  // `::` stands for zeros.
  return [...groups, '0', '0', '0', '0'].slice(0, 4).join(':');
}
