import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { StubUpstream } from '../../../test/support/stub-upstream.js';
import { mp3File } from '../../../test/media/mp3-file.js';
import { SystemClock } from '../../common/time/clock.js';
import { BoundedDownload } from '../../platform/http-client/bounded-download.js';
import { EgressRules } from '../../platform/http-client/egress-rules.js';
import { SsrfSafeDialer } from '../../platform/http-client/ssrf-safe-dialer.js';
import { givenMp3 } from './given-file.js';
import { HttpTransport } from './http-transport.js';
import { ProviderHttp } from './provider-http.js';
import { readBounded } from './response-body.js';

const MIB = 1024 * 1024;
const MAX_BYTES = 40 * MIB;
/** The most that `CALL_DEADLINE_MS` may be, and the minute in which the rest of an answer is read. */
const LONGEST_CALL_MS = 86_460_000;
const SIGNED = '?Expires=1764400000&Signature=sIgNaTuRe';
const mp3 = await mp3File(2, { rateHz: 44_100, kbps: 128 });
const transport = new HttpTransport(5_000);
const QUICK = { totalMs: 5_000, tries: 4, firstPauseMs: 1, maxPauseMs: 5 };

let files: StubUpstream;
let stop: AbortController;
beforeEach(async () => {
  files = await StubUpstream.start();
  files.reply = (response) => response.end(mp3);
  stop = new AbortController();
});
afterEach(() => files.stop());
afterAll(() => transport.close());

function given(
  opening = QUICK,
  url = `${files.url}/songs/a.mp3${SIGNED}`,
  permitted = files.url,
): Promise<Readable> {
  const rules = EgressRules.parse(new URL(permitted).host);
  const download = new BoundedDownload(new SsrfSafeDialer({ rules }), { rules });
  const access = { id: 'acme', baseUrl: files.url, apiKey: 'sk-upstream', transport };
  const http = new ProviderHttp({ ...access, clock: new SystemClock() }, { headers: {} });
  const file = { url, providerRequestId: 'req_1', signal: stop.signal };
  return givenMp3({ download, http, opening }, file);
}
const bytesOf = async (file: Promise<Readable>) => readBounded(await file, MAX_BYTES);

/** The failure of a file, in whose words its URL is not. */
async function lost(file: Promise<unknown>, upstreamCode: string): Promise<void> {
  const error = await file.then(
    () => new Error('did not fail'),
    (reason: unknown) => reason as Error,
  );
  expect(error).toMatchObject({
    kind: 'http_error',
    isPartial: true,
    safeToFailover: false,
    providerRequestId: 'req_1',
    upstreamCode,
  });
  expect(error.cause).toBeUndefined();
  const words = JSON.stringify(error) + String(error.stack);
  expect(words).not.toMatch(/sIgNaTuRe|songs\/|127\.0\.0|169\.254/);
}

/** Answers in turn, and then with the file. */
function inTurn(...answers: readonly ((response: ServerResponse) => unknown)[]): void {
  files.reply = (response) => (answers[files.seen.length - 1] ?? ((it) => it.end(mp3)))(response);
}
const status = (code: number) => (response: ServerResponse) => response.writeHead(code).end();
const begun = (response: ServerResponse, bytes = 1_000) =>
  response.writeHead(200, { 'content-length': mp3.length }).write(mp3.subarray(0, bytes));

describe('a file of a provider', () => {
  it('is its bytes, asked for once and without a key', async () => {
    expect((await bytesOf(given())).equals(mp3)).toBe(true);
    expect(files.only).toMatchObject({ method: 'GET', url: `/songs/a.mp3${SIGNED}` });
    expect(JSON.stringify(files.only.headers)).not.toMatch(/sk-upstream|authorization/);
  });

  it.each([404, 408, 429, 500, 503])('is asked for again after %d', async (code) => {
    inTurn(status(code), status(code));
    expect((await bytesOf(given())).equals(mp3)).toBe(true);
    expect(files.seen).toHaveLength(3);
  });

  it('is asked for again after a connection that ended before its first bytes', async () => {
    inTurn(
      (response) => response.socket?.destroy(),
      (response) => {
        response.writeHead(200, { 'content-length': mp3.length }).flushHeaders();
        setImmediate(() => response.destroy());
      },
    );
    expect((await bytesOf(given())).equals(mp3)).toBe(true);
    expect(files.seen).toHaveLength(3);
  });

  it('is given up after its tries', async () => {
    files.reply = status(404);
    await lost(given(), 'file_not_fetched');
    expect(files.seen).toHaveLength(QUICK.tries);
  });

  it('is given up after its time, also where nothing is answered', async () => {
    files.reply = () => undefined;
    await lost(given({ ...QUICK, totalMs: 100 }), 'file_not_fetched');
    await files.untilAborted();
    expect(files.seen).toHaveLength(1);
  });

  it('is given up where its host cannot be reached', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    const url = `http://127.0.0.1:${port}/songs/a.mp3`;
    await lost(given(QUICK, url, url), 'file_not_fetched');
  });

  it.each<[string, string, (response: ServerResponse) => unknown]>([
    ['is forbidden', 'file_not_fetched', status(403)],
    ['is gone', 'file_not_fetched', status(410)],
    ['is empty', 'file_not_fetched', (response) => response.end()],
    [
      'is a page',
      'not_audio',
      (response) => response.setHeader('content-type', 'audio/mpeg').end('<html>Expired</html>'),
    ],
    ['is JSON', 'not_audio', (response) => response.end('{"error":"expired"}')],
    ['is another format', 'not_audio', (response) => response.end(Buffer.from('OggS'.repeat(9)))],
    [
      'says that it is too large',
      'file_too_large',
      (response) => response.writeHead(200, { 'content-length': 32 * MIB + 1 }).end(),
    ],
    [
      'is compressed',
      'file_not_fetched',
      (response) => response.setHeader('content-encoding', 'gzip').end(mp3),
    ],
    [
      'leads to a private address',
      'file_not_fetched',
      (response) => response.writeHead(302, { location: 'http://127.0.0.2/songs/b' }).end(),
    ],
  ])('that %s is asked for once', async (_what, code, reply) => {
    files.reply = reply;
    await lost(given(), code);
    expect(files.seen).toHaveLength(1);
  });

  it.each([
    'http://127.0.0.2/songs/a.mp3',
    'http://169.254.169.254/songs/a.mp3',
    'file:///songs/a.mp3',
    'fffb90c4',
    '',
  ])('is not asked for at %j', async (url) => {
    await lost(given(QUICK, url), 'file_url_refused');
    expect(files.seen).toHaveLength(0);
  });

  it('that breaks off after its first bytes fails its reader, and is not asked for again', async () => {
    files.reply = (response) => {
      begun(response);
      setImmediate(() => response.destroy());
    };
    await lost(bytesOf(given()), 'file_not_fetched');
    expect(files.seen).toHaveLength(1);
  });

  it('that is shorter than it says fails its reader', async () => {
    files.reply = (response) => {
      begun(response, mp3.length - 1);
      response.socket?.end();
    };
    await lost(bytesOf(given()), 'file_not_fetched');
  });

  it('that never ends fails at 32 MiB, and is read no further', async () => {
    const piece = Buffer.concat([mp3, Buffer.alloc(MIB)]);
    files.reply = (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    const file = await given();
    let bytes = 0;
    file.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await lost(once(file, 'end'), 'file_too_large');
    expect(bytes).toBeLessThanOrEqual(32 * MIB);
    await files.untilAborted();
  });

  it('that nobody reads is not fetched: it waits for its reader', async () => {
    let sent = 0;
    files.reply = (response) => {
      const more = (): void => {
        do sent += MIB;
        while (response.write(Buffer.concat([mp3, Buffer.alloc(MIB - mp3.length)])));
        response.once('drain', more);
      };
      more();
    };
    const file = await given();
    const before = sent;
    // The sockets of both sides hold some megabytes; no file of 32 MiB passes them.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(sent).toBeLessThan(before + 16 * MIB);
    file.destroy();
    await files.untilAborted();
  });

  it('has as long to be read as any call may take: the deadline of the call ends it', async () => {
    const asked = jest.spyOn(BoundedDownload.prototype, 'toStream');
    (await given()).destroy();
    expect(asked.mock.calls[0]?.[1]?.limits?.totalMs).toBeGreaterThan(LONGEST_CALL_MS);
    asked.mockRestore();
  });

  it('is not fetched any further once its reader leaves it', async () => {
    files.reply = (response) => begun(response);
    (await given()).destroy();
    await files.untilAborted();
  });

  it('ends with the reason of its signal, in a pause, while it is opened and while it arrives', async () => {
    const reason = new Error('client left');
    files.reply = status(404);
    const pausing = expect(given({ ...QUICK, firstPauseMs: 60_000, totalMs: 120_000 })).rejects;
    const left = pausing.toBe(reason);
    while (files.seen.length === 0) await new Promise(setImmediate);
    stop.abort(reason);
    await left;
    stop = new AbortController();
    files.reply = () => {
      stop.abort(reason);
    };
    await expect(given()).rejects.toBe(reason);
    stop = new AbortController();
    files.reply = (response) => begun(response);
    const arriving = bytesOf(given());
    const cut = expect(arriving).rejects.toBe(reason);
    while (files.seen.length < 3) await new Promise(setImmediate);
    stop.abort(reason);
    await cut;
  });
});
