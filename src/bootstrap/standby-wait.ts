import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { bodyInApiFamily } from '../common/errors/error-body.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { stateOfServers } from '../platform/database/server-state.js';
import { familyOfRequest } from './request-family.js';

const LOOK_EVERY_MS = 1_000;
const SAY_EVERY_MS = 60_000;
const RETRY_AFTER_SECONDS = 5;
/** A client that sends its request slowly is not waited for. */
const REQUEST_LIMIT_MS = 10_000;
const STANDBY = new GatewayError(
  'service_unavailable',
  'The gateway starts, and its database is a standby that takes no writes yet.',
);

/** Where a start waits for its database. */
export interface StandbyWait {
  readonly databaseUrl: string;
  readonly port: number;
  readonly host: string | undefined;
  /** Whether this process answers at its port meanwhile; a worker does not, because the port is that of all workers. */
  readonly answers: boolean;
}

/**
 * Waits, for as long as it takes, until a server of `databaseUrl` takes writes, if the best that answers at first is a
 * standby. Meanwhile `/health/live` answers 200 and everything else 503, so an orchestrator does not restart the process.
 * Resolves at once in any other case: the start itself tells what is wrong. Rejects if the port cannot be listened at.
 */
export async function waitForPromotion(wait: StandbyWait, logger: Logger): Promise<void> {
  if ((await stateOfServers(wait.databaseUrl)) !== 'standby') return;
  const server = wait.answers ? await listen(wait) : undefined;
  // Before the gateway is there, nothing else listens for signals, and process 1 of a container ignores them.
  const end = (): void => process.exit(0);
  process.on('SIGTERM', end).on('SIGINT', end);
  for (let saidMs = -Infinity, isWritable = false; !isWritable;) {
    if (performance.now() - saidMs >= SAY_EVERY_MS) {
      logger.warn(
        'the database is a standby, in recovery: the start waits until it is promoted, and /health/ready answers 503',
      );
      saidMs = performance.now();
    }
    await sleep(LOOK_EVERY_MS);
    // One that is away has to be waited for too: it may restart in order to take over.
    isWritable = (await stateOfServers(wait.databaseUrl)) === 'writable';
  }
  process.off('SIGTERM', end).off('SIGINT', end);
  if (server !== undefined) await close(server);
  logger.info('the database takes writes now: the start goes on');
}

async function listen({ port, host }: StandbyWait): Promise<Server> {
  const server = createServer({ requestTimeout: REQUEST_LIMIT_MS }, answer);
  // The wait for `listening` rejects with an error of the start.
  server.on('error', () => undefined);
  await once(server.listen(port, host), 'listening');
  return server;
}

async function close(server: Server): Promise<void> {
  const closed = once(server.close(), 'close');
  server.closeAllConnections();
  await closed;
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  request.on('error', () => undefined).resume();
  response.on('error', () => undefined);
  const [path] = (request.url ?? '').split('?', 1);
  const isLive = path === '/health/live';
  const body = isLive
    ? { status: 'live' }
    : path === '/health/ready'
      ? { status: 'unavailable' }
      : bodyInApiFamily(STANDBY, familyOfRequest(request));
  const seconds = path === '/health/ready' ? 1 : RETRY_AFTER_SECONDS;
  response.writeHead(isLive ? 200 : STANDBY.status, {
    'Content-Type': 'application/json; charset=utf-8',
    Connection: 'close',
    ...(!isLive && { 'Retry-After': seconds }),
  });
  response.end(JSON.stringify(body));
}
