import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { ProviderHttp } from '../../src/providers/http/provider-http.js';
import { multipartBody } from '../../src/providers/http/request-body.js';

const UPLOAD_BYTES = 52_428_800;

describe('upload of a 50 MB file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'upload-'));
  const file = {
    path: join(folder, 'recording'),
    sizeBytes: UPLOAD_BYTES,
    filename: 'audio.wav',
    contentType: 'audio/wav',
  };
  const transport = new HttpTransport(2_000);
  let server: Server;
  let listener: RequestListener;
  beforeAll(() => {
    writeFileSync(file.path, Buffer.alloc(UPLOAD_BYTES));
  });
  afterAll(async () => {
    await transport.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    server = createServer((request, response) => {
      listener(request, response);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const upload = (path = file.path, signal = new AbortController().signal) => {
    const { port } = server.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}`;
    const access = { id: 'acme', baseUrl, apiKey: 'k', transport, clock: new SystemClock() };
    const http = new ProviderHttp(access, { headers: {} });
    const body = multipartBody({ model_id: 'm' }, [{ field: 'file', file: { ...file, path } }]);
    const request = {
      method: 'POST',
      path: '/',
      body,
      timeout: 'audio',
      context: { signal },
    } as const;
    return http.requestJson(request, 1_000, (json) => json);
  };

  it('is streamed from disk, whole', async () => {
    let received = 0;
    listener = (request, response) => {
      request.on('data', (chunk: Buffer) => (received += chunk.length));
      request.on('end', () => response.end('{"ok":true}'));
    };
    expect(await upload()).toEqual({ ok: true });
    expect(received).toBeGreaterThan(UPLOAD_BYTES);
  });

  it.each([
    [422, 'rejected'],
    [429, 'rate_limited'],
    [401, 'account'],
  ])('takes an early %d as %s although the upload was never read', async (status, kind) => {
    listener = (_request, response) => response.writeHead(status).end('{}');
    await expect(upload()).rejects.toMatchObject({ kind, upstreamStatus: status });
  });

  it('is a timeout when the provider stops reading', async () => {
    listener = (request) => request.pause();
    await expect(upload()).rejects.toMatchObject({ kind: 'timeout', sent: true });
  });

  it('breaks off as failure when the provider does', async () => {
    listener = (request) => request.once('data', () => request.destroy());
    await expect(upload()).rejects.toMatchObject({ kind: 'http_error', sent: true });
  });

  it('stops when the signal aborts', async () => {
    const controller = new AbortController();
    listener = (request) => {
      request.once('data', () => {
        controller.abort(new Error('client left'));
      });
    };
    await expect(upload(file.path, controller.signal)).rejects.toThrow('client left');
  });

  it('fails with the error of the disk when the file is gone', async () => {
    listener = (request) => request.resume();
    await expect(upload('/nonexistent/file')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
