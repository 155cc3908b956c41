import { once } from 'node:events';
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ConnectionTurns } from './connection-turns.js';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const LIMITS = { maxWaiting: 5, maxWaitingCharacters: 10_000, checkMs: 40, maxSilentChecks: 25 };
const PATIENCE_MS = 20_000;
/** More bytes than any kernel buffers for a reader. */
const LARGE = Buffer.alloc(60_000_000);

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function serve(listener: RequestListener, classes: ServerOptions = {}): Promise<Socket> {
  const turns = new ConnectionTurns(listener, LIMITS);
  server = createServer(classes, turns.take).listen(0, '127.0.0.1');
  turns.watch(server);
  await once(server, 'listening');
  return connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
}

async function until(fact: () => boolean): Promise<void> {
  for (let waitedMs = 0; !fact() && waitedMs < PATIENCE_MS; waitedMs += 10) await sleep(10);
  expect(fact()).toBe(true);
}

describe('requests that a client sends ahead', () => {
  it('are served one after the other, in order', async () => {
    let atOnce = 0;
    let most = 0;
    let served = 0;
    const client = await serve((_request, response) => {
      most = Math.max(most, ++atOnce);
      setTimeout(() => response.end(`answer ${served++};`), 5);
      response.once('finish', () => atOnce--);
    });
    let text = '';
    client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    client.write(GET.repeat(6));
    await until(() => text.includes('answer 5;'));
    expect(most).toBe(1);
    expect([...text.matchAll(/answer (\d)/g)].map(([, index]) => index)).toEqual([...'012345']);
  });

  it('cut the connection when too many wait', async () => {
    let begun = 0;
    const client = await serve(() => begun++);
    client.resume().write(GET.repeat(7));
    await once(client, 'close');
    expect(begun).toBe(1);
  });

  it('are not even read when too many wait', async () => {
    let seen = 0;
    class Seen extends IncomingMessage {
      constructor(socket: Socket) {
        super(socket);
        seen++;
      }
    }
    const client = await serve(() => undefined, { IncomingMessage: Seen });
    client.resume().write(GET.repeat(2_000));
    await once(client, 'close');
    // The running one, those that wait, one too many, and the one at which the parser stops.
    expect(seen).toBeLessThanOrEqual(1 + LIMITS.maxWaiting + 2);
  });

  it('cut the connection when their heads are too large together', async () => {
    let begun = 0;
    const client = await serve(() => begun++);
    const long = GET.replace('/', `/${'a'.repeat(4_000)}`);
    client.resume().write(long.repeat(3));
    await until(() => begun === 1);
    expect(client.closed).toBe(false);
    client.write(long);
    await once(client, 'close');
    expect(begun).toBe(1);
  });

  it('are dropped when the client leaves, and the running one is told', async () => {
    let begun = 0;
    let gone = 0;
    const client = await serve((_request, response) => {
      begun++;
      response.once('close', () => gone++);
    });
    client.write(GET.repeat(5));
    await until(() => begun === 1);
    client.destroy();
    await until(() => gone === 1);
    await sleep(50);
    expect(begun).toBe(1);
  });
});

describe('the reader of an answer', () => {
  it('is cut off when it takes nothing for long', async () => {
    let cut = false;
    const client = await serve((_request, response) => {
      response.once('close', () => (cut = true));
      response.end(LARGE);
    });
    client.pause().write(GET);
    await until(() => cut);
  });

  it('is cut off although it sends byte after byte', async () => {
    let cut = false;
    const client = await serve((_request, response) => {
      response.once('close', () => (cut = true));
      response.end(LARGE);
    });
    client.pause().write(`${GET}GET / HTTP/1.1\r\nX: `);
    const sending = setInterval(() => client.write('a'), 10);
    await until(() => cut);
    clearInterval(sending);
  });

  it('has no time limit while it reads something', async () => {
    const client = await serve((_request, response) => response.end(LARGE));
    let bytes = 0;
    const began = performance.now();
    client.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      client.pause();
      setTimeout(() => client.resume(), 1);
    });
    client.write(GET);
    await until(() => bytes > LARGE.length);
    expect(performance.now() - began).toBeGreaterThan(LIMITS.checkMs * LIMITS.maxSilentChecks);
  });

  it('is not cut off while its answer is still being made', async () => {
    const patienceMs = LIMITS.checkMs * LIMITS.maxSilentChecks * 3;
    const client = await serve((_request, response) => {
      response.write('first');
      setTimeout(() => response.end('last'), patienceMs);
    });
    let text = '';
    client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    client.write(GET);
    await until(() => text.includes('last'));
  });
});
