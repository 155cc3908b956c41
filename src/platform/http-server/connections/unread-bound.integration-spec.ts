import { afterEach, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../../test/support/until.js';
import { PipeliningGuard } from './pipelining-guard.js';
import { countWaiting } from '../responses/response-memory-limit.js';

const MEBIBYTE = 1_048_576;
/** Far more than the kernel takes for a reader. */
const ANSWER = Buffer.alloc(30 * MEBIBYTE);
/** Room for two unread answers. */
const MAX_BYTES = 70 * MEBIBYTE;
const LOOKS_MS = 2_500;
const PATIENCE_MS = 60_000;
const TIMEOUT_MS = 2 * PATIENCE_MS;

let server: Server | undefined;
let turns: PipeliningGuard;
/** Of every connection, in the order of their requests: whose it was, and whether it was cut. */
let readers: { holder: string; isCut: boolean }[] = [];
afterEach(() => {
  readers = [];
  server?.closeAllConnections();
  server?.close();
});

async function serve(waitingBytes = 0): Promise<number> {
  turns = new PipeliningGuard((request, response) => {
    const reader = { holder: String(request.headers['x-holder']), isCut: false };
    readers.push(reader);
    request.socket.once('close', () => (reader.isCut = true));
    countWaiting(response, () => waitingBytes);
    response.end(ANSWER);
  });
  turns.bound({
    maxBytes: MAX_BYTES,
    bucketOf: ({ headers }) => String(headers['x-holder']),
    onDisconnected: () => undefined,
  });
  server = createServer(turns.take).listen(0, '127.0.0.1');
  turns.watch(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A connection that asks for an answer and reads none of it. */
function slowReader(port: number, holder: string): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.pause().write(`GET / HTTP/1.1\r\nHost: shim\r\nX-Holder: ${holder}\r\n\r\n`);
  return socket;
}

const cutOf = (holder: string) => readers.filter((one) => one.holder === holder && one.isCut);

it(
  'beyond the bound readers of the account with the most are cut, and those of others get all',
  async () => {
    const port = await serve();
    const attack = ['a', 'a', 'a', 'a'].map((holder) => slowReader(port, holder));
    const victim = slowReader(port, 'b');
    await until(() => cutOf('a').length === 3);
    await sleep(LOOKS_MS);
    expect(cutOf('a')).toHaveLength(3);
    expect(cutOf('b')).toHaveLength(0);
    let takenBytes = 0;
    victim.on('data', ({ length }: Buffer) => (takenBytes += length)).resume();
    await until(() => takenBytes >= ANSWER.length);
    for (const socket of [...attack, victim]) socket.destroy();
  },
  TIMEOUT_MS,
);

it(
  'what a provider has sent beyond an unread answer counts with it',
  async () => {
    const port = await serve(MAX_BYTES);
    const socket = slowReader(port, 'a');
    await until(() => cutOf('a').length === 1);
    socket.destroy();
  },
  TIMEOUT_MS,
);
