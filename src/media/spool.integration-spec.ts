import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { answer, type RawAnswer, StubWeb } from '../../test/support/stub-web.js';
import { withRequestContext } from '../platform/http-server/connections/request-context.js';
import { BoundedDownload } from '../platform/http-client/bounded-download.js';
import { EgressRules } from '../platform/http-client/egress-rules.js';
import { MediaIntake } from './media-intake.js';
import { TempFolder } from './temp-folder.js';
import { Spool } from './spool.js';

const SPOOL_BYTES = 100_000;
const FILE = 'http://example.com/sound.wav';

describe('Spool', () => {
  let dataDir: string;
  let folder: TempFolder;
  let web: StubWeb;
  let spool: Spool;
  const gauges = new Map<string, () => number>();
  const gauge = (name: string) => gauges.get(`gateway_spool_${name}`)?.();

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'shim-spool-'));
    folder = new TempFolder({ dataDir });
    await folder.onModuleInit();
    const watch = (name: string, _help: string, read: () => number) => gauges.set(name, read);
    spool = new Spool({ spoolMaxBytes: SPOOL_BYTES, maxUploadsPerAccount: 3 }, { watch });
  });
  afterEach(async () => {
    await web.stop();
    expect([gauge('bytes'), gauge('transfers')]).toEqual([0, 0]);
    expect(readdirSync(folder.path)).toEqual([]);
    rmSync(dataDir, { recursive: true });
  });

  /** The outcome of a recording by URL: its code, or 'measured'. */
  async function fetchFor(accountId: string): Promise<string> {
    const downloads = new BoundedDownload(web.dialer(), { rules: EgressRules.none });
    const intake = new MediaIntake(folder, downloads, spool);
    const source = { accountId, url: FILE, upload: undefined };
    return intake
      .measure(source, () => Promise.resolve('measured'))
      .catch((error: unknown) => (error as { code: string }).code);
  }

  /** Sends the head of an answer and `bytes` of its body, then nothing. */
  const stalling =
    (bytes: number): RawAnswer =>
    (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n${'x'.repeat(bytes)}`);
    };

  it('counts no bytes of downloads that have not arrived', async () => {
    web = await StubWeb.start(stalling(0));
    const accounts = Array.from({ length: 12 }, (_, n) => `account ${n % 4}`);
    const hanging = accounts.map(fetchFor);
    while (web.heads.length < accounts.length) await setImmediate();
    expect(gauge('transfers')).toBe(accounts.length);
    expect(gauge('bytes')).toBe(0);
    spool.open('another', SPOOL_BYTES / 2).free();
    await web.stop();
    web = await StubWeb.start(stalling(0));
    expect(new Set(await Promise.all(hanging))).toEqual(new Set(['audio_download_failed']));
  });

  it('counts a download while it arrives, and aborts it at the quota of its account', async () => {
    web = await StubWeb.start(stalling(SPOOL_BYTES / 2 + 1));
    expect(await fetchFor('a')).toBe('rate_limit_exceeded');
    while (web.openSockets > 0) await setImmediate();
  });

  it('aborts a download if the spool is full', async () => {
    const others = ['a', 'b'].map((account) => spool.open(account, 1));
    for (const reservation of others) reservation.add(SPOOL_BYTES / 2 - 100);
    web = await StubWeb.start((socket) => socket.end(answer(200, [], 'x'.repeat(201))));
    expect(await fetchFor('c')).toBe('service_unavailable');
    for (const reservation of others) reservation.free();
    expect(await fetchFor('c')).toBe('unsupported_audio_format');
  });

  it('aborts the download of a client that has disconnected', async () => {
    web = await StubWeb.start(stalling(1_000));
    const limits = { maxSeconds: 60 };
    let ended = (_code: unknown): void => undefined;
    const server = createServer(
      withRequestContext((_request, response) => {
        const downloads = new BoundedDownload(web.dialer(), { rules: EgressRules.none });
        const source = { accountId: 'a', url: FILE, upload: undefined, response };
        new MediaIntake(folder, downloads, spool)
          .use(source, limits, () => Promise.resolve('used'))
          .then(ended, ended);
      }),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const outcome = new Promise((resolve) => (ended = resolve));
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write('POST / HTTP/1.1\r\nHost: a\r\n\r\n');
    while (gauge('bytes') !== 1_000) await setImmediate();
    client.destroy();
    expect(await outcome).toMatchObject({ message: expect.stringContaining('The caller left') });
    while (web.openSockets > 0) await setImmediate();
    server.close();
    await once(server, 'close');
  });

  it('rejects a file of unknown size at once if the spool is full', async () => {
    web = await StubWeb.start(stalling(0));
    const others = ['a', 'b'].map((account) => spool.open(account));
    for (const reservation of others) reservation.add(SPOOL_BYTES / 2);
    expect(() => spool.open('c')).toThrow('too many');
    expect(() => spool.open('a')).toThrow('You may have at most');
    expect(gauge('transfers')).toBe(others.length);
    for (const reservation of others) reservation.free();
  });

  it('counts no bytes that arrive after the reservation was freed', () => {
    const reservation = spool.open('a', 1);
    reservation.free();
    expect(reservation.add(10)).toBeUndefined();
    expect(gauge('bytes')).toBe(0);
  });
});
