import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as requestOf,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { statusOf } from './process.js';

/** A load balancer that asks `/health/ready` of its servers. */
export interface Balancer {
  readonly url: string;
  /** Whether it sends calls to the server. */
  isUp(server: string): boolean;
  stop(): Promise<void>;
}

/** How often it asks, and after how many failures in a row a server gets no more calls. One success brings it back. */
const CHECK_MS = 200;
const FAILURES = 3;
const CHECK_TIMEOUT_MS = 1_000;

interface Backend {
  readonly url: string;
  readonly agent: Agent;
  failures: number;
}

/**
 * Starts one that keeps the connections of its clients and its own to the servers, as HAProxy does. It repeats nothing: a
 * server that does not answer makes a 502.
 */
export async function startBalancer(servers: readonly string[]): Promise<Balancer> {
  const backends = servers.map((url): Backend => ({
    url,
    agent: new Agent({ keepAlive: true }),
    failures: FAILURES,
  }));
  let turn = 0;
  const server = createServer((incoming, answer) => {
    const up = backends.filter(({ failures }) => failures < FAILURES);
    const backend = up[(turn += 1) % up.length];
    if (backend) forward(backend, incoming, answer);
    else answer.writeHead(503, { 'x-balancer': 'no server is up' }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const checks = setInterval(() => {
    for (const backend of backends) void check(backend);
  }, CHECK_MS);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isUp: (url) => backends.some((each) => each.url === url && each.failures < FAILURES),
    async stop() {
      clearInterval(checks);
      server.closeAllConnections();
      for (const { agent } of backends) agent.destroy();
      await once(server.close(), 'close');
    },
  };
}

async function check(backend: Backend): Promise<void> {
  const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
  const status = await statusOf(`${backend.url}/health/ready`, { signal });
  backend.failures = status === 200 ? 0 : backend.failures + 1;
}

function forward({ url, agent }: Backend, incoming: IncomingMessage, answer: ServerResponse): void {
  const { method, headers } = incoming;
  const outgoing = requestOf(`${url}${incoming.url ?? ''}`, { agent, method, headers });
  outgoing.on('error', (error) => {
    if (answer.headersSent) answer.destroy();
    else answer.writeHead(502, { 'x-balancer': error.message }).end();
  });
  outgoing.on('response', (response) => {
    // The connection to the server is not that of the client.
    const { connection: _, ...kept } = response.headers;
    answer.writeHead(response.statusCode ?? 502, kept);
    response.on('error', () => answer.destroy()).pipe(answer);
  });
  incoming.on('error', () => outgoing.destroy()).pipe(outgoing);
}
