import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { BoundedDownload } from '../../src/net/bounded-download.js';
import type { DownloadOptions } from '../../src/net/download.js';
import { EgressRules } from '../../src/net/egress-rules.js';
import { GuardedDialer } from '../../src/net/guarded-dialer.js';
import { makeCertificate } from '../support/certificate.js';
import { answer, type RawAnswer, StubWeb } from '../support/stub-web.js';

const DAY_MS = 86_400_000;
const FAILED = { code: 'audio_download_failed' };
const LIMITS = {
  connectMs: 200,
  headersMs: 200,
  idleMs: 200,
  totalMs: 1_500,
  rateGraceMs: 200,
  minBytesPerSecond: 10_000,
};
const policy = { rules: EgressRules.none };

describe('hostile servers', () => {
  let web: StubWeb;
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'download-'));
  });
  afterEach(async () => {
    await web.stop();
    await rm(dir, { recursive: true });
  });

  async function fetchFrom(
    raw: RawAnswer,
    options: DownloadOptions = {},
    url = 'http://example.com/',
  ) {
    web = await StubWeb.start(raw);
    return fetchWith(web.dialer(), options, url);
  }

  function fetchWith(
    dialer: GuardedDialer,
    options: DownloadOptions = {},
    url = 'http://example.com/',
  ) {
    return new BoundedDownload(dialer, policy).toFile(url, dir, { limits: LIMITS, ...options });
  }

  /** The download failed, its file is gone and so is its connection. */
  async function expectFailure(fetched: Promise<unknown>, code = 'audio_download_failed') {
    await expect(fetched).rejects.toMatchObject({ code });
    await expect(readdir(dir)).resolves.toEqual([]);
    for (let i = 0; i < 50 && web.openSockets > 0; i += 1) await delay(10);
    expect(web.openSockets).toBe(0);
  }

  const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  /** Writes `chunk` every `everyMs` until the other side has had enough. */
  function drip(socket: Socket, chunk: string, everyMs: number): void {
    const timer = setInterval(() => socket.write(chunk), everyMs);
    socket.once('close', () => {
      clearInterval(timer);
    });
  }

  it('are left when the name does not resolve in time, R21 (AUD-46)', async () => {
    web = await StubWeb.start(() => undefined);
    const silent = new GuardedDialer({ ...policy, resolve: () => new Promise(() => undefined) });
    await expectFailure(fetchWith(silent));
  });

  it('are left when they accept and stay silent, R22 (AUD-46)', async () => {
    await expectFailure(fetchFrom(() => undefined));
  });

  it('are left when the TLS handshake stalls, R23', async () => {
    web = await StubWeb.start(() => undefined);
    // A plain server never answers the client's hello.
    const dialer = web.dialer();
    await expectFailure(fetchWith(dialer, {}, 'https://example.com:8080/'));
    expect(web.heads).toEqual([]);
  });

  it.each([
    ['is expired', ['example.com'], -2 * DAY_MS, -DAY_MS, true],
    ['is for another name', ['other.example'], -DAY_MS, DAY_MS, true],
    ['nobody vouches for', ['example.com'], -DAY_MS, DAY_MS, false],
  ])('are left when their certificate %s, R24', async (_, hosts, from, until, isTrusted) => {
    const at = (ms: number) => new Date(Date.now() + ms);
    web = await StubWeb.start(
      (socket) => socket.end(answer(200, [], 'sound')),
      makeCertificate(hosts, at(from), at(until)),
    );
    const dialer = web.dialer(
      policy.rules,
      isTrusted ? undefined : makeCertificate(['example.com']).cert,
    );
    await expectFailure(fetchWith(dialer, {}, 'https://example.com/'));
    expect(web.heads).toEqual([]);
  });

  it('are left when the head of the answer drips, R25', async () => {
    await expectFailure(
      fetchFrom((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nX: ');
        drip(socket, 'y', 20);
      }),
    );
  });

  it('are left when the head of the answer is 64 kB, R26', async () => {
    await expectFailure(
      fetchFrom((socket) => socket.end(answer(200, [`X: ${'y'.repeat(65_536)}`], 'sound'))),
    );
  });

  it('are left when the body drips, R27', async () => {
    await expectFailure(
      fetchFrom((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n');
        drip(socket, 'y', 20);
      }),
    );
  });

  it('are left when the body goes silent', async () => {
    await expectFailure(
      fetchFrom((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc')),
    );
  });

  it('are left when a body that flows takes too long', async () => {
    const flowing: RawAnswer = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      drip(socket, 'y'.repeat(4_096), 20);
    };
    await expectFailure(fetchFrom(flowing, { limits: { ...LIMITS, totalMs: 400 } }));
  });

  it('are cut off after the limit when the declared length is smaller, R30', async () => {
    const file = await fetchFrom((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nsound and more'),
    ).catch((error: unknown) => {
      expect(error).toMatchObject(FAILED);
    });
    expect(file?.bytes ?? 5).toBe(5);
  });

  it('fail when the body is shorter than declared, R31 (AUD-46)', async () => {
    await expectFailure(
      fetchFrom((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nabc')),
    );
  });

  it('are stopped at the limit in an endless chunked body, R32 (AUD-47)', async () => {
    const endless: RawAnswer = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      drip(socket, `2000\r\n${'y'.repeat(8_192)}\r\n`, 1);
    };
    await expectFailure(fetchFrom(endless, { limitBytes: 100_000 }), 'audio_too_large');
  });

  it.each(['gzip', Array(100).fill('br').join(), 'identity, br', 'x-unknown'])(
    'are refused when they compress, R33: %s',
    async (encoding) => {
      const bomb = gzipSync(Buffer.alloc(10_000_000)).toString('latin1');
      const fetched = fetchFrom((socket) =>
        socket.end(answer(200, [`Content-Encoding: ${encoding}`], bomb), 'latin1'),
      );
      await expectFailure(fetched);
    },
  );

  it('are refused with both a length and chunks, R34', async () => {
    const both = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n';
    await expectFailure(fetchFrom((socket) => socket.end(`${both}5\r\nsound\r\n0\r\n\r\n`)));
  });

  it.each([
    'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    'HTTP/1.1 103 Early\r\n\r\n',
  ])('are left when they only send %j, R35', async (interim) => {
    await expectFailure(
      fetchFrom((socket) => {
        drip(socket, interim, 5);
      }),
    );
  });

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
      expect(web.heads[0]).toMatch(/^GET \/ /);
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
    await expect(readdir(dir)).resolves.toEqual([]);
  });

  it('leave no file and no connection behind when two hundred come at once', async () => {
    web = await StubWeb.start((socket) => {
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
