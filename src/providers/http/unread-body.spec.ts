import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import axios from 'axios';
import { Agent } from 'undici';
import { readUnread } from '../ports/unread-body.js';
import { undiciAdapter } from './undici-adapter.js';
import { MAX_READ_ON, UnreadTurns } from './unread-turns.js';

const PIECE = Buffer.alloc(64 * 1024);
const ANSWER_BYTES = 8 * 1024 * 1024;
/** More than is read of an answer before it is held, with the buffers on the way. */
const HELD_BYTES = 1024 * 1024;
const ANSWERS = MAX_READ_ON + 10;

const atProvider: ServerResponse[] = [];
const server = createServer((_request, response) => {
  atProvider.push(response);
  response.write(PIECE);
});
const agent = new Agent();

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  await agent.destroy();
  server.closeAllConnections();
  server.close();
});
// Looks happen only when a test says so; all else is real.
beforeEach(() => {
  atProvider.length = 0;
  jest.useFakeTimers({
    doNotFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'nextTick', 'queueMicrotask', 'Date'],
  });
});
afterEach(() => {
  jest.useRealTimers();
});

async function answers(signal?: AbortSignal): Promise<Readable[]> {
  const turns = new UnreadTurns(() => true);
  const client = axios.create({ adapter: undiciAdapter(agent, turns), responseType: 'stream' });
  const { port } = server.address() as AddressInfo;
  const all = Array.from({ length: ANSWERS }, async (_, index) => {
    const { data } = await client.get<Readable>(`http://127.0.0.1:${port}/`, signal && { signal });
    data.on('error', () => undefined);
    readUnread(data, `account ${index % 2}`);
    return data;
  });
  return Promise.all(all);
}

/** Sends an answer as fast as it is read. */
async function send(response: ServerResponse): Promise<void> {
  for (let left = ANSWER_BYTES; left > 0 && !response.destroyed; left -= PIECE.length) {
    if (!response.write(PIECE)) {
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
  }
  response.end();
}

it('so many fast answers are read at once; every one is read to its end', async () => {
  const bodies = await answers();
  const inReading = new Set<Readable>();
  let most = 0;
  const ends = bodies.map((body) => {
    let bytes = 0;
    body.on('data', ({ length }: Buffer) => {
      bytes += length;
      if (bytes > HELD_BYTES) inReading.add(body);
      most = Math.max(most, inReading.size);
    });
    return once(body, 'end').then(() => {
      inReading.delete(body);
      return bytes;
    });
  });
  for (const response of atProvider) void send(response);
  const whole = PIECE.length + ANSWER_BYTES;
  expect(await Promise.all(ends)).toEqual(bodies.map(() => whole));
  // One that has ended gives its turn away a moment before its reader learns of the end.
  expect(most).toBeLessThanOrEqual(MAX_READ_ON + 2);
});

it('an aborted call ends while its answer is held', async () => {
  const stop = new AbortController();
  const bodies = await answers(stop.signal);
  const closed = bodies.map(
    (body) => new Promise((resolve) => body.resume().once('close', resolve)),
  );
  for (const response of atProvider) void send(response);
  while (!bodies.some((body) => body.closed)) await sleep(5);
  const reason = new Error('the deadline');
  stop.abort(reason);
  await Promise.all(closed);
  expect(bodies.filter(({ errored }) => errored === reason).length).toBeGreaterThan(0);
});
