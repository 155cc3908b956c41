import { BlockList, isIP } from 'node:net';
import { parseUrl } from '../../common/parse-url.js';

const MAX_PORT = 65_535;
const NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

/** One entry: a host name or a range of addresses, on one port or on all ports. */
interface EgressRule {
  readonly target: string | BlockList;
  readonly port: number | undefined;
}

/**
 * Private hosts and addresses that the operator permits for downloads and webhooks with `EGRESS_ALLOW` (decision G-43):
 * comma-separated `host`, `ip` or `cidr`, each with an optional `:port` (`receiver:9000,10.0.0.0/8,[::1]:9000`).
 */
export class EgressRules {
  /** Permits nothing. */
  static readonly none = new EgressRules([]);

  private constructor(private readonly rules: readonly EgressRule[]) {}

  /** Reads the comma-separated list; throws an Error that names every bad entry. */
  static parse(text: string): EgressRules {
    const entries = text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
    const parsed = entries.map((entry) => ({ entry, rule: parseEntry(entry) }));
    const bad = parsed.filter(({ rule }) => rule === undefined).map(({ entry }) => `"${entry}"`);
    if (bad.length > 0) {
      throw new Error(`not a host, ip or cidr with an optional port: ${bad.join(', ')}`);
    }
    return new EgressRules(parsed.flatMap(({ rule }) => rule ?? []));
  }

  get isEmpty(): boolean {
    return this.rules.length === 0;
  }

  /** Whether a rule permits this lower-case host name or IP literal (no brackets) on this port. */
  opens(host: string, port: number): boolean {
    return this.rules.some(
      (rule) => (rule.port === undefined || rule.port === port) && covers(rule.target, host),
    );
  }
}

function covers(target: EgressRule['target'], host: string): boolean {
  if (typeof target === 'string') return target === host;
  const family = isIP(host);
  return family !== 0 && !host.includes('%') && target.check(host, family === 4 ? 'ipv4' : 'ipv6');
}

function parseEntry(entry: string): EgressRule | undefined {
  const { host, port } = splitPort(entry);
  const target = parseTarget(host.toLowerCase());
  if (target === undefined || (port !== undefined && !(port >= 1 && port <= MAX_PORT))) {
    return undefined;
  }
  return { target, port };
}

/** An IPv6 address (or its cidr) contains colons, so a port needs brackets around the address. */
function splitPort(entry: string): { host: string; port: number | undefined } {
  const match = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d{1,5}))?$/.exec(entry);
  if (match === null) return { host: entry, port: undefined };
  const port = match[3] === undefined ? undefined : Number(match[3]);
  return { host: match[1] ?? match[2] ?? '', port };
}

function parseTarget(text: string): EgressRule['target'] | undefined {
  const [, host = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  if (isIP(host) !== 0) return parseRange(host, prefix);
  return prefix === undefined ? parseName(host) : undefined;
}

function parseRange(address: string, prefix: string | undefined): BlockList | undefined {
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  const width = family === 'ipv4' ? 32 : 128;
  const bits = prefix === undefined ? width : Number(prefix);
  if (bits > width) return undefined;
  const range = new BlockList();
  range.addSubnet(address, bits, family);
  return range;
}

/** A name that a URL would parse as a number (`10.1`, `300.1.1.1`) is a typing error, not a host. */
function parseName(name: string): string | undefined {
  if (!NAME.test(name)) return undefined;
  return parseUrl(`http://${name}/`)?.hostname === name ? name : undefined;
}
