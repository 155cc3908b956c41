import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import { SseWriter } from './sse-writer.js';

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  if (server) await once(server, 'close');
});

/** A server that answers with what `tell` writes. */
async function serve(
  tell: (events: SseWriter) => Promise<void>,
  waits?: { pingMs: number; stallMs: number },
): Promise<number> {
  server = createServer((_request, response) => {
    void tell(new SseWriter(response as Response, waits));
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
      { pingMs: 20, stallMs: 60_000 },
    );
    const text = await read(port);
    expect(text).toMatch(/^data: first\n\n(: ping\n\n)+data: last\n\n$/);
  });

  it('cuts a reader that takes nothing, and tells of it once', async () => {
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
      { pingMs: 15_000, stallMs: 50 },
    );
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await finished).toBe(true);
    expect(told).toBe(1);
    expect(sent).toBeGreaterThan(0);
    socket.destroy();
  });

  it('says nothing of a reader who has read to the end', async () => {
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
});
