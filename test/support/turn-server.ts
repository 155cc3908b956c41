import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { answerClientErrors } from '../../src/common/http/connections/client-error.js';
import { ConnectionTurns } from '../../src/common/http/connections/connection-turns.js';

/** A request. */
export const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** Limits of connections that tests can reach. */
export const TURN_LIMITS = {
  maxWaiting: 5,
  maxWaitingCharacters: 10_000,
  checkMs: 40,
  maxSilentChecks: 25,
  maxIdleChecks: 50,
};

const servers = new Set<Server>();

/** Serves with the turns of connections; returns a client. */
export async function serveInTurns(
  listener: RequestListener,
  classes: ServerOptions = {},
  limits = TURN_LIMITS,
): Promise<Socket> {
  const turns = new ConnectionTurns(listener, limits);
  const server = createServer(classes, turns.take);
  servers.add(server);
  answerClientErrors(server);
  turns.watch(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
}

/** Ends all of them; call it in `afterEach`. */
export function stopServing(): void {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  servers.clear();
}
