import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { BoundedDownload } from './bounded-download.js';
import { MEDIA_LIMIT_BYTES } from './download.js';
import { EgressRules } from './egress-rules.js';
import { SsrfSafeDialer } from './ssrf-safe-dialer.js';

const CHUNK = Buffer.alloc(65_536, 'x');

describe('BoundedDownload', () => {
  let server: Server;
  let base: string;
  let dir: string;
  let downloads: BoundedDownload;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'download-'));
    // `/<bytes>` answers that many bytes in chunks, and tells their number where it is asked to.
    server = createServer((request, response) => {
      response.setHeader('content-type', 'audio/mpeg');
      response.once('close', () => response.writableFinished || server.emit('gone'));
      const [path = '', announced] = request.url?.split('?') ?? [];
      let left = Number(path.slice(1));
      if (announced !== undefined) response.setHeader('content-length', left);
      const send = (): void => {
        while (left > 0) {
          const part = CHUNK.subarray(0, Math.min(left, CHUNK.length));
          left -= part.length;
          if (!response.write(part)) return void response.once('drain', send);
        }
        response.end();
      };
      send();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    base = `http://127.0.0.1:${port}`;
    const rules = EgressRules.parse(`127.0.0.1:${port}`);
    downloads = new BoundedDownload(new SsrfSafeDialer({ rules }), { rules });
  });
  afterAll(async () => {
    server.close();
    await once(server, 'close');
    await rm(dir, { recursive: true });
  });

  it('writes the body to a file only its owner reads and reports the declared type', async () => {
    const { path, bytes, contentType } = await downloads.toFile(`${base}/100000`, dir);
    expect([bytes, contentType]).toEqual([100_000, 'audio/mpeg']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await expect(readFile(path, 'utf8')).resolves.toBe('x'.repeat(100_000));
    await rm(path);
  });

  it('returns the bytes as a stream, and breaks it above the limit', async () => {
    const { body, contentType } = await downloads.toStream(`${base}/100000`);
    expect([(await buffer(body)).length, contentType]).toEqual([100_000, 'audio/mpeg']);
    const large = await downloads.toStream(`${base}/100001`, { limitBytes: 100_000 });
    await expect(buffer(large.body)).rejects.toMatchObject({ code: 'audio_too_large' });
  });

  it('refuses what announces more than the limit before it reads it', async () => {
    const url = `${base}/100001?announced`;
    const refused = downloads.toStream(url, { limitBytes: 100_000 });
    await expect(refused).rejects.toMatchObject({ code: 'audio_too_large' });
    const { body } = await downloads.toStream(url, { limitBytes: 100_001 });
    expect((await buffer(body)).length).toBe(100_001);
  });

  it('closes the connection of a stream that is not read to its end', async () => {
    const { body } = await downloads.toStream(`${base}/50000000`);
    const gone = once(server, 'gone');
    body.destroy();
    await gone;
  });

  it('accepts a file of exactly 50 MB, R28 (AUD-47)', async () => {
    const { path, bytes } = await downloads.toFile(`${base}/${MEDIA_LIMIT_BYTES}`, dir);
    expect(bytes).toBe(52_428_800);
    expect((await stat(path)).size).toBe(52_428_800);
    await rm(path);
  });

  it('refuses a file of 50 MB and one byte and removes it, R29 (AUD-47)', async () => {
    const url = `${base}/${MEDIA_LIMIT_BYTES + 1}`;
    await expect(downloads.toFile(url, dir, { param: 'audio_url' })).rejects.toMatchObject({
      code: 'audio_too_large',
      status: 413,
      param: 'audio_url',
    });
    await expect(readdir(dir)).resolves.toEqual([]);
  });

  it('holds small things in memory up to their own limit', async () => {
    const { data } = await downloads.toBytes(`${base}/1000`, { limitBytes: 1_000 });
    expect(data).toHaveLength(1_000);
    const refused = downloads.toBytes(`${base}/1001`, { limitBytes: 1_000 });
    await expect(refused).rejects.toMatchObject({ code: 'audio_too_large' });
  });

  it('fails when no server listens (AUD-46)', async () => {
    const rules = EgressRules.parse('127.0.0.1');
    const lonely = new BoundedDownload(new SsrfSafeDialer({ rules }), { rules });
    await expect(lonely.toFile('http://127.0.0.1:1/', dir)).rejects.toMatchObject({
      code: 'audio_download_failed',
      message:
        'The URL could not be downloaded: its host could not be reached, or closed the connection before the end.',
    });
  });

  it('stops at once if the signal is already aborted', async () => {
    const reason = new Error('gone');
    const stopped = downloads.toFile(`${base}/1`, dir, { signal: AbortSignal.abort(reason) });
    await expect(stopped).rejects.toBe(reason);
  });

  it('reports a disk error as an internal error, not as an error of the URL', async () => {
    const missing = join(dir, 'missing');
    await expect(downloads.toFile(`${base}/10`, missing)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('names the field of a URL whose text is rejected (AUD-43)', async () => {
    const refused = downloads.toFile('ftp://example.com/', dir, { param: 'audio_url' });
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'audio_url must be an http or https URL.',
    });
  });
});
