import { describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { DAY_MS } from '../../src/common/time/spans.js';
import { SsrfSafeDialer } from '../../src/platform/http-client/ssrf-safe-dialer.js';
import { makeCertificate } from '../support/certificate.js';
import { drip, hostileDownloads, LIMITS, policy } from '../support/hostile-downloads.js';
import { answer, type RawAnswer } from '../support/stub-web.js';

const FAILED = { code: 'audio_download_failed' };
describe('hostile servers', () => {
  const { serve, fetchFrom, fetchWith, expectFailure, servers } = hostileDownloads();

  it('are left when the name does not resolve in time, R21 (AUD-46)', async () => {
    await serve(() => undefined);
    const silent = new SsrfSafeDialer({ ...policy, resolve: () => new Promise(() => undefined) });
    await expectFailure(fetchWith(silent));
  });

  it('are left when they accept and stay silent, R22 (AUD-46)', async () => {
    await expectFailure(fetchFrom(() => undefined));
  });

  it('are left when the TLS handshake stalls, R23', async () => {
    const web = await serve(() => undefined);
    // A plain server never answers the client's hello.
    const dialer = web.dialer();
    await expectFailure(fetchWith(dialer, {}, 'https://example.com:8080/'));
    expect(servers().heads).toEqual([]);
  });

  it.each([
    ['is expired', ['example.com'], -2 * DAY_MS, -DAY_MS, true],
    ['is for another name', ['other.example'], -DAY_MS, DAY_MS, true],
    ['no known authority signed', ['example.com'], -DAY_MS, DAY_MS, false],
  ])('are left when their certificate %s, R24', async (_, hosts, from, until, isTrusted) => {
    const at = (ms: number) => new Date(Date.now() + ms);
    const web = await serve(
      (socket) => socket.end(answer(200, [], 'sound')),
      makeCertificate(hosts, at(from), at(until)),
    );
    const dialer = web.dialer(
      policy.rules,
      isTrusted ? undefined : makeCertificate(['example.com']).cert,
    );
    await expectFailure(fetchWith(dialer, {}, 'https://example.com/'));
    expect(servers().heads).toEqual([]);
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

  it.each(['', 'identity', 'Identity'])(
    'are read as they are with the encoding "%s"',
    async (name) => {
      const plain = answer(200, [`Content-Encoding: ${name}`], 'sound');
      await expect(fetchFrom((socket) => socket.end(plain))).resolves.toBeDefined();
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
});
