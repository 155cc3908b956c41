import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import { type SseLimits, SseWriter } from './sse-response.js';

const ROOMY: SseLimits = { pingMs: 15_000, firstPingMs: 5_000, stallMs: 30_000 };

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  if (server) await once(server, 'close');
});

/** A server that answers with what `tell` writes. */
async function serve(
  tell: (events: SseWriter) => Promise<void>,
  limits?: Partial<SseLimits>,
): Promise<number> {
  server = createServer((_request, response) => {
    // By then the request was read to its end.
    setImmediate(() => {
      void tell(new SseWriter(response as Response, { ...ROOMY, ...limits }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const read = async (port: number) => (await fetch(`http://127.0.0.1:${port}/`)).text();

describe('SseWriter', () => {
  it('writes events and ends the answer', async () => {
    const port = await serve(async (events) => {
      await events.send('{"a":1}');
      await events.end('[DONE]');
    });
    expect(await read(port)).toBe('data: {"a":1}\n\ndata: [DONE]\n\n');
  });

  it('writes a comment into each silence after the first event, and none before it', async () => {
    const port = await serve(
      async (events) => {
        await sleep(60);
        await events.send('first');
        await sleep(70);
        await events.end('last');
      },
      { pingMs: 20 },
    );
    const text = await read(port);
    expect(text).toMatch(/^data: first\n\n(: ping\n\n)+data: last\n\n$/);
  });

  it('while it waits writes the head and comments before the first event, and fewer after it', async () => {
    const port = await serve(
      async (events) => {
        events.wait();
        await sleep(100);
        expect(events.hasBegun).toBe(true);
        await events.send('first');
        await sleep(100);
        await events.end('last');
      },
      { firstPingMs: 20, pingMs: 3_600_000 },
    );
    expect(await read(port)).toMatch(/^(: ping\n\n)+data: first\n\ndata: last\n\n$/);
  });

  it('leaves the response to other code if it is dropped before the head', async () => {
    const port = await serve(
      async (events) => {
        events.wait();
        events.drop();
        await sleep(60);
        expect(events.hasBegun).toBe(false);
        (events as unknown as { response: Response }).response.writeHead(429).end('refused');
      },
      { firstPingMs: 20 },
    );
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect([answer.status, await answer.text()]).toEqual([429, 'refused']);
  });

  it('disconnects a client that reads nothing, and reports it once', async () => {
    let told = 0;
    let sent = 0;
    let finish: (isGone: boolean) => void = () => undefined;
    const finished = new Promise<boolean>((resolve) => (finish = resolve));
    const port = await serve(
      async (events) => {
        events.onGone(() => (told += 1));
        while (!events.isGone) {
          await events.send('x'.repeat(100_000));
          sent += 1;
        }
        await events.send('too late');
        await events.end('too late');
        finish(events.isGone);
      },
      { stallMs: 50 },
    );
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await finished).toBe(true);
    expect(told).toBe(1);
    expect(sent).toBeGreaterThan(0);
    socket.destroy();
  });

  it('reports nothing about a client that has read to the end', async () => {
    const told: string[] = [];
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const port = await serve(async (events) => {
      events.onGone(() => told.push('gone'));
      await events.end('all');
      events.onGone(() => told.push('asked late'));
      finish();
    });
    expect(await read(port)).toBe('data: all\n\n');
    await finished;
    expect(told).toEqual([]);
  });

  it.each([
    ['leaves', (socket: Socket) => socket.destroy()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
    ['ends its side', (socket: Socket) => socket.end()],
  ])('notices a reader that %s', async (_how, leave) => {
    let left: (told: number) => void = () => undefined;
    const gone = new Promise<number>((resolve) => (left = resolve));
    let told = 0;
    const port = await serve(async (events) => {
      events.onGone(() => (told += 1));
      while (!events.isGone) {
        await events.send('x');
        await sleep(5);
      }
      left(told);
    });
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    leave(socket);
    expect(await gone).toBe(1);
    socket.destroy();
  });

  it('keeps the connection open for the next request', async () => {
    const port = await serve(async (events) => {
      await events.send('first');
      await events.end('last');
    });
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    let text = '';
    socket.on('data', (bytes: Buffer) => (text += bytes.toString()));
    for (const answers of [1, 2]) {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      while (text.split('data: last').length <= answers) await once(socket, 'data');
    }
    expect(text.match(/^HTTP\/1\.1 200/gm)).toHaveLength(2);
    expect(text).not.toMatch(/^Connection: close/im);
    socket.destroy();
  });
});
