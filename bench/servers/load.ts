import autocannon from 'autocannon';
import { median } from '../result.js';

/** The target of a load. `keys` and `runs` are used in turn, one for each request. */
export interface Target {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly keys?: readonly string[];
  /** Values of the header `x-gateway-run`. */
  readonly runs?: readonly string[];
}

/** A path of a server on this machine. */
export const serverUrl = (server: { readonly port: number }, path: string): string =>
  `http://127.0.0.1:${server.port}${path}`;

/** The result of one load. */
export interface Load {
  readonly perSecond: number;
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Sends the body over this many connections for this long. Throws when an answer is no success. */
export async function load(
  target: Target,
  body: string,
  connections: number,
  seconds: number,
): Promise<Load> {
  const { url, headers } = target;
  let next = 0;
  const result = await autocannon({
    url,
    method: 'POST',
    headers,
    body,
    connections,
    duration: seconds,
    ...((target.keys ?? target.runs) && {
      requests: [
        {
          setupRequest: (request) => ({
            ...request,
            headers: { ...headers, ...headersInTurn(target, next++) },
          }),
        },
      ],
    }),
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} refusals, ${result.errors} errors`);
  }
  const { p50, p99 } = result.latency;
  const requests = result['2xx'];
  return { perSecond: requests / result.duration, requests, p50Ms: p50, p99Ms: p99 };
}

function headersInTurn({ keys, runs }: Target, turn: number): Record<string, string> {
  return {
    ...(keys && { authorization: `Bearer ${keys[turn % keys.length] ?? ''}` }),
    ...(runs && { 'x-gateway-run': runs[turn % runs.length] ?? '' }),
  };
}

/** Requests per second of each target, in turns after a warm-up; the median of the rounds. */
export async function compareRates<Name extends string>(
  targets: Readonly<Record<Name, Target>>,
  body: string,
  plan: {
    readonly connections: number;
    readonly rounds: number;
    readonly roundSeconds: number;
    readonly warmUpSeconds: number;
  },
): Promise<Record<Name, number>> {
  const names = Object.keys(targets) as Name[];
  const rates = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (const name of names) await load(targets[name], body, plan.connections, plan.warmUpSeconds);
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const name of names) {
      const { perSecond } = await load(targets[name], body, plan.connections, plan.roundSeconds);
      rates.get(name)?.push(perSecond);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(rates.get(name) ?? [])])) as Record<
    Name,
    number
  >;
}
