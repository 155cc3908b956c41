import { Duplex } from 'node:stream';
import { afterEach, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

const LIMIT = 2;
const CLIENT = '192.0.2.7';

let gateway: TestGateway;

afterEach(() => gateway.stop());

/** A connection from an address that this machine cannot connect from. */
class DistantSocket extends Duplex {
  readonly remoteFamily = 'IPv4';

  constructor(readonly remoteAddress: string) {
    super();
    this.on('error', () => undefined);
  }

  override _read(): void {
    // It sends nothing.
  }

  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    done();
  }
}

/** Opens one connection more than an address may have; tells which of them are refused. */
function refusals(address: string): boolean[] {
  const sockets = Array.from({ length: LIMIT + 1 }, () => new DistantSocket(address));
  for (const socket of sockets) gateway.app.getHttpServer().emit('connection', socket);
  const refused = sockets.map(({ destroyed }) => destroyed);
  for (const socket of sockets) socket.destroy();
  return refused;
}

it.each([
  ['of one address beyond MAX_CONNECTIONS_PER_ADDRESS are refused', CLIENT, '', true],
  ['of this machine are not counted', '127.0.0.1', '', false],
  ['of a balancer that TRUST_PROXY names are not counted', CLIENT, CLIENT, false],
])('connections %s', async (_what, address, TRUST_PROXY, isRefused) => {
  gateway = await startTestGateway({ MAX_CONNECTIONS_PER_ADDRESS: String(LIMIT), TRUST_PROXY });
  expect(refusals(address)).toEqual([false, false, isRefused]);
});
