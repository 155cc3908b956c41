import { describe, expect, it } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import { drip, hostileDownloads, LIMITS } from '../support/hostile-downloads.js';
import { answer } from '../support/stub-web.js';

describe('hostile servers, by what they answer and how they are left', () => {
  const { serve, fetchFrom, fetchWith, expectFailure, servers, folder } = hostileDownloads();

  it.each(['', 'garbage\r\n\r\n', 'HTTP/1.1 200 OK\r\nBad Header\r\n\r\n', 'SSH-2.0-OpenSSH\r\n'])(
    'fail when they answer %j (AUD-46)',
    async (text) => {
      await expectFailure(fetchFrom((socket) => socket.end(text)));
    },
  );

  it.each([204, 206, 300, 304, 400, 401, 404, 500, 503])(
    'answering %i (AUD-46)',
    async (status) => {
      const fetched = fetchFrom((socket) =>
        socket.end(answer(status, [], status === 206 ? 'x' : '')),
      );
      if (status === 206) await expect(fetched).resolves.toMatchObject({ bytes: 1 });
      else await expectFailure(fetched);
    },
  );

  it('fail when their body is empty', async () => {
    await expectFailure(fetchFrom((socket) => socket.end(answer(200))));
  });

  it('are reached directly whatever proxy the environment names, R36', async () => {
    process.env.HTTP_PROXY = process.env.http_proxy = 'http://127.0.0.1:9';
    try {
      const { bytes } = await fetchFrom((socket) => socket.end(answer(200, [], 'sound')));
      expect(bytes).toBe(5);
      expect(servers().heads[0]).toMatch(/^GET \/ /);
    } finally {
      delete process.env.HTTP_PROXY;
      delete process.env.http_proxy;
    }
  });

  it('are left with the reason of the caller when the caller gives up', async () => {
    const caller = new AbortController();
    const reason = new Error('the client went away');
    const fetched = fetchFrom(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc');
        caller.abort(reason);
      },
      { signal: caller.signal },
    );
    await expect(fetched).rejects.toBe(reason);
    await expect(readdir(folder())).resolves.toEqual([]);
  });

  it('leave no file and no connection behind when two hundred come at once', async () => {
    const web = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      drip(socket, 'y'.repeat(10), 20);
    });
    const dialer = web.dialer();
    const all = Array.from({ length: 200 }, () =>
      fetchWith(dialer, { limits: { ...LIMITS, connectMs: 5_000, headersMs: 5_000 } }),
    );
    const outcomes = await Promise.allSettled(all);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(200);
    await expectFailure(fetchWith(dialer));
  });
});
