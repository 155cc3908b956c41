import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import { SystemClock } from '../../../common/time/clock.js';
import { CONNECTION_LIMITS, PipeliningGuard } from '../connections/pipelining-guard.js';
import { executionId } from '../responses/execution-id.js';
import { LoadShedder } from './load-shedder.js';
import { OverloadRefusal } from './overload-refusal.js';

const PATIENCE_MS = 20_000;
const LIMITS = { ...CONNECTION_LIMITS, checkMs: 20, maxIdleChecks: 3 };

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A server that refuses calls while `crowd.isThere`. */
async function serve(limits = LIMITS) {
  const requests: IncomingMessage[] = [];
  const crowd = { isThere: true, served: 0, refused: 0, requests };
  const turns = new PipeliningGuard((request, response) => {
    crowd.served += 1;
    request.resume();
    response.end('served');
  }, limits);
  const count = () => (crowd.isThere ? 1 : 0);
  const holds = {
    get readyCalls() {
      return count();
    },
    readyGroups: 1,
    readyCallsOf: count,
  };
  let ms = 0;
  const nowMs = () => (ms += 1_000);
  const holderOf = (request: IncomingMessage) => {
    requests.push(request);
    return 'a';
  };
  const shedder = new LoadShedder({ maxWaiting: 1, bucketOf: holderOf, holds, nowMs });
  const refusal = new OverloadRefusal([executionId(new SystemClock())], () => (crowd.refused += 1));
  turns.guard({ shedder, refusal });
  // The first one starts the crowd.
  shedder.refuses({ method: 'POST', url: '/', headers: {} } as never);
  server = createServer(turns.take).listen(0, '127.0.0.1');
  turns.watch(server);
  await once(server, 'listening');
  return crowd;
}

function client(): { socket: Socket; text: () => string; seen: (part: string) => Promise<void> } {
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  const seen = async (part: string): Promise<void> => {
    for (let waitedMs = 0; !text.includes(part) && waitedMs < PATIENCE_MS; waitedMs += 5)
      await sleep(5);
    expect(text).toContain(part);
  };
  return { socket, text: () => text, seen };
}

const post = (body: string, ...headers: string[]) =>
  ['POST /v1/any HTTP/1.1', 'Host: a', `Content-Length: ${body.length}`, ...headers, '', body].join(
    '\r\n',
  );
const refusals = (text: string) => text.split('HTTP/1.1 503 Service Unavailable').length - 1;

it('keeps the connection open for the next request', async () => {
  const crowd = await serve(CONNECTION_LIMITS);
  const { socket, text, seen } = client();
  socket.write(post('{"a":1}'));
  await seen('too much to do');
  expect(text()).toMatch(/\r\nRetry-After: 1\r\n[^]*\r\nConnection: keep-alive\r\n/);
  crowd.isThere = false;
  socket.write(post('{"a":1}'));
  await seen('served');
  expect(crowd).toMatchObject({ served: 1, refused: 1 });
});

it.each([
  ['a large body', post('x'.repeat(200_000))],
  ['a connection that closes', post('{}', 'Connection: close')],
])('is the same for %s', async (_what, bytes) => {
  await serve();
  const [usual, other] = [client(), client()];
  usual.socket.write(post('{}'));
  await usual.seen('too much to do');
  other.socket.write(bytes);
  await other.seen('too much to do');
  expect(shapeOf(other.text())).toEqual(shapeOf(usual.text()));
});

/** The answer without what differs from request to request. */
function shapeOf(text: string): string[] {
  return text
    .replace(/exec_[0-9a-f]{32}/g, 'exec_')
    .split('\r\n')
    .filter((line) => !/^(date|connection|keep-alive):/i.test(line))
    .sort();
}

it('answers requests that are sent ahead each, in their order', async () => {
  const crowd = await serve();
  const { socket, text } = client();
  socket.write(post('{}').repeat(4));
  for (let waitedMs = 0; refusals(text()) < 4 && waitedMs < PATIENCE_MS; waitedMs += 5)
    await sleep(5);
  expect(refusals(text())).toBe(4);
  expect(crowd.served).toBe(0);
});

it('keeps nothing of a body that is not read', async () => {
  const crowd = await serve(CONNECTION_LIMITS);
  const { socket, text, seen } = client();
  socket.write(post('x'.repeat(16_000)));
  await seen('too much to do');
  // The second answer comes after the first body, for a body is parsed before the next request.
  socket.write(post('{}'));
  while (refusals(text()) < 2) await sleep(5);
  expect(crowd.requests.map(({ readableLength }) => readableLength)).toEqual(
    crowd.requests.map(() => 0),
  );
});

it('closes a connection that sends nothing more', async () => {
  await serve();
  const { socket, seen } = client();
  socket.write(post('{}'));
  await seen('too much to do');
  await once(socket, 'close');
});
