import { once } from 'node:events';
import {
  createServer,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { endInPieces } from '../../src/platform/http-server/responses/end-in-pieces.js';
import { handleClientErrors } from '../../src/platform/http-server/connections/client-error.js';
import { PipeliningGuard } from '../../src/platform/http-server/connections/pipelining-guard.js';

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

class PacedResponse extends ServerResponse {}
PacedResponse.prototype.end = endInPieces;

/** Serves with the turns of connections; returns a client. */
export async function serveInTurns(
  listener: RequestListener,
  classes: ServerOptions = {},
  limits = TURN_LIMITS,
): Promise<Socket> {
  const turns = new PipeliningGuard(listener, limits);
  const server = createServer({ ServerResponse: PacedResponse, ...classes }, turns.take);
  servers.add(server);
  handleClientErrors(server, turns);
  turns.watch(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
}

/** What the client has received so far. */
export function received(client: Socket): () => string {
  let text = '';
  client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  return () => text;
}

/** Ends all of them; call it in `afterEach`. */
export function stopServing(): void {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  servers.clear();
}
