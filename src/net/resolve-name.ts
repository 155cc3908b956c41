import { lookup, Resolver } from 'node:dns/promises';

const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;

/** All addresses of a host name, IPv4 and IPv6; empty or rejected when there are none. */
export type ResolveName = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Asks DNS alone, outside the thread pool: names under a hostile, silent server cannot starve file access, as the
 * system's resolver would (it occupies one of few threads for as long as the server stays silent).
 */
export async function resolveByDns(
  hostname: string,
  signal: AbortSignal,
  resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES }),
): Promise<readonly string[]> {
  const cancel = (): void => {
    resolver.cancel();
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Asks the system, hosts file and search domains included: names of a development machine or a container network. */
export const resolveBySystem: ResolveName = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);
