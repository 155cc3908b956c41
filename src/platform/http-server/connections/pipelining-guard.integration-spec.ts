import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  GET,
  received,
  serveInTurns,
  stopServing,
  TURN_LIMITS,
} from '../../../../test/support/turn-server.js';
import { until } from '../../../../test/support/until.js';
import { CONNECTION_LIMITS, PipeliningGuard } from './pipelining-guard.js';

/** More bytes than any kernel buffers for a reader. */
const LARGE = Buffer.alloc(60_000_000);

afterEach(stopServing);

it('by default 4 requests and 64 kB of heads may wait, and clients are disconnected after 30 s without reading or 80 s without a request', () => {
  const { checkMs, maxSilentChecks, maxIdleChecks, ...waiting } = CONNECTION_LIMITS;
  expect(waiting).toEqual({ maxWaiting: 4, maxWaitingCharacters: 65_536 });
  expect([checkMs * maxSilentChecks, checkMs * maxIdleChecks]).toEqual([30_000, 80_000]);
});

it('begins 16 requests per iteration of the event loop when many connections send at once', () => {
  let begun = 0;
  const turns = new PipeliningGuard(() => begun++, TURN_LIMITS);
  for (let connection = 0; connection < 40; connection++) {
    const request = new IncomingMessage(new Socket());
    turns.take(request, new ServerResponse(request));
  }
  expect(begun).toBe(16);
});

describe('a client that does not read its response', () => {
  it('is disconnected when it reads nothing for long', async () => {
    let cut = false;
    const client = await serveInTurns((_request, response) => {
      response.once('close', () => (cut = true));
      response.end(LARGE);
    });
    client.pause().write(GET);
    await until(() => cut);
  });

  it('is cut off although it sends byte after byte', async () => {
    let cut = false;
    const client = await serveInTurns((_request, response) => {
      response.once('close', () => (cut = true));
      response.end(LARGE);
    });
    client.pause().write(`${GET}GET / HTTP/1.1\r\nX: `);
    const sending = setInterval(() => client.write('a'), 10);
    await until(() => cut);
    clearInterval(sending);
  });

  it('is cut off when it sends line ends instead of a next request', async () => {
    let cut = false;
    const client = await serveInTurns((request, response) => {
      request.socket.once('close', () => (cut = true));
      response.end('short');
    });
    client.pause().write(GET);
    const sending = setInterval(() => client.write('\r\n'), 10);
    await until(() => cut);
    clearInterval(sending);
  });

  it('keeps its connection while it sends a request from time to time', async () => {
    const client = await serveInTurns((_request, response) => response.end('an answer;'));
    const text = received(client);
    const began = performance.now();
    let sent = 0;
    while (performance.now() - began < 2 * TURN_LIMITS.checkMs * TURN_LIMITS.maxIdleChecks) {
      client.write(GET);
      sent += 1;
      await until(() => text().split('an answer;').length > sent);
      await sleep(100);
    }
    expect(client.closed).toBe(false);
  });

  it('has no time limit while it reads something', async () => {
    const client = await serveInTurns((_request, response) => response.end(LARGE));
    let bytes = 0;
    const began = performance.now();
    client.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      client.pause();
      setTimeout(() => client.resume(), 1);
    });
    client.write(GET);
    await until(() => bytes > LARGE.length);
    expect(performance.now() - began).toBeGreaterThan(
      TURN_LIMITS.checkMs * TURN_LIMITS.maxSilentChecks,
    );
  });

  it('is not cut off while its answer is still being made', async () => {
    const patienceMs = TURN_LIMITS.checkMs * TURN_LIMITS.maxSilentChecks * 3;
    const client = await serveInTurns((_request, response) => {
      response.write('first');
      setTimeout(() => response.end('last'), patienceMs);
    });
    const text = received(client);
    client.write(GET);
    await until(() => text().includes('last'));
  });
});
