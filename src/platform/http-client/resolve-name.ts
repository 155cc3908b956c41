import { lookup, Resolver } from 'node:dns/promises';

const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;
/** How long the addresses of one family wait for those of the other: some servers never respond to IPv6 queries. */
const OTHER_FAMILY_MS = 1_000;

/** All addresses of a host name, IPv4 and IPv6. Empty or rejected when there are none. */
export type ResolveName = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Queries DNS directly, outside the thread pool. The system's resolver occupies one of few threads while a server is
 * silent, so a hostile server could block access to files.
 */
export async function resolveByDns(
  hostname: string,
  signal: AbortSignal,
  resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES }),
): Promise<readonly string[]> {
  const cancel = (): void => {
    resolver.cancel();
  };
  let hurry: NodeJS.Timeout | undefined;
  const found = (addresses: string[]): string[] => {
    hurry ??= setTimeout(cancel, OTHER_FAMILY_MS);
    return addresses;
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.allSettled([
      resolver.resolve4(hostname).then(found),
      resolver.resolve6(hostname).then(found),
    ]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } finally {
    clearTimeout(hurry);
    signal.removeEventListener('abort', cancel);
  }
}

/**
 * Uses the system's resolver, which also reads the hosts file and search domains: these contain names of a development
 * machine or a container network.
 */
export const resolveBySystem: ResolveName = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);
