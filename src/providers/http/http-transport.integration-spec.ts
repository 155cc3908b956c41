import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { HttpTransport } from './http-transport.js';

const CONNECTED = 'undici:client:connected';
/** The most that one read of a socket gives. */
const READ_BYTES = 65_536;
const PIECE = Buffer.alloc(1_000);
const PIECES = 50_000;
const TURNS = 200;

it('a provider whose reader has paused is read no further than the read in which the reader paused', async () => {
  const server = createServer((_request, response) => {
    for (let sent = 0; sent < PIECES; sent += 1) response.write(PIECE);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets: Socket[] = [];
  const onConnected = (message: unknown): void => {
    sockets.push((message as { socket: Socket }).socket);
  };
  subscribe(CONNECTED, onConnected);
  const transport = new HttpTransport();
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { data } = await transport.axios.request<Readable>({ ...transport.everyRequest, url });
    let takenBytes = 0;
    data.on('data', ({ length }: Buffer) => {
      takenBytes += length;
      if (takenBytes > READ_BYTES) data.pause();
    });
    while (!data.isPaused()) await nextTurn();
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
    expect(data.readableLength).toBe(0);
    expect(sockets[0]?.readableLength).toBeLessThanOrEqual(READ_BYTES);
    expect(sockets[0]?.bytesRead).toBeLessThan(takenBytes + 2 * READ_BYTES);
  } finally {
    unsubscribe(CONNECTED, onConnected);
    await transport.close();
    server.closeAllConnections();
    server.close();
  }
});
