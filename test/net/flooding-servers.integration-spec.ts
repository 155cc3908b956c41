import { describe, expect, it } from '@jest/globals';
import type { Socket } from 'node:net';
import { hostileDownloads, LIMITS } from '../support/hostile-downloads.js';

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
/** Long enough that only the bounds on what is no body end a flood. */
const PATIENT = {
  ...LIMITS,
  headersMs: 60_000,
  idleMs: 60_000,
  totalMs: 60_000,
  rateGraceMs: 60_000,
};
const REASON =
  'The URL could not be downloaded: its host could not be reached, or closed the connection before the end.';

/** Sends `start`, then `piece` as fast as it is taken. */
function flood(socket: Socket, start: string, piece: string): void {
  const block = piece.repeat(Math.ceil(65_536 / piece.length));
  const send = (): void => {
    while (!socket.destroyed && socket.write(block));
  };
  socket.on('drain', send).write(start);
  send();
}

describe('servers that flood', () => {
  const { fetchFrom, expectFailure, serve, fetchWith } = hostileDownloads();

  it.each([
    ['interim answers', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['empty lines', '', '\r\n'],
    ['chunks of one byte', CHUNKED, '1\r\nx\r\n'],
    ['chunks with long extensions', CHUNKED, `10;${'a'.repeat(200)}\r\n${'x'.repeat(16)}\r\n`],
  ])('are left early when they send %s', async (_, start, piece) => {
    let sent = 0;
    const fetched = fetchFrom(
      (socket) => {
        socket.once('close', () => (sent = socket.bytesWritten));
        flood(socket, start, piece);
      },
      { limits: PATIENT },
    );
    await expect(fetched).rejects.toMatchObject({ message: REASON });
    await expectFailure(fetched);
    // What the buffers of the system hold was sent too.
    expect(sent).toBeLessThan(16_000_000);
  });

  it('are left early when they send TLS records of one byte', async () => {
    const fetched = fetchFrom(
      (socket) => {
        const send = (): void => {
          if (!socket.destroyed) socket.write('x', send);
        };
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n', send);
      },
      { limits: PATIENT },
      'https://example.com/',
    );
    await expect(fetched).rejects.toMatchObject({ message: REASON });
    await expectFailure(fetched);
  });

  it('are read when their chunks are small but not tiny', async () => {
    const chunks = `20\r\n${'x'.repeat(32)}\r\n`.repeat(100_000);
    const web = await serve((socket) => socket.end(`${CHUNKED}${chunks}0\r\n\r\n`));
    const { bytes } = await fetchWith(web.dialer(), { limits: PATIENT });
    expect(bytes).toBe(3_200_000);
  });

  it('are read when they send a few thousand tiny chunks', async () => {
    const web = await serve((socket) => {
      socket.end(`${CHUNKED}${'1\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`);
    });
    await expect(fetchWith(web.dialer(), { limits: PATIENT })).resolves.toMatchObject({
      bytes: 10_000,
    });
  });
});
