import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Controller, Get, Module, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { FastExpressAdapter } from '../http-server/connections/fast-express.adapter.js';
import { GatewayErrorFilter } from '../http-server/responses/gateway-error.filter.js';
import { sendStoredFile } from './send-stored-file.js';
import type { StoredFile } from './stored-file.js';

const BYTES = randomBytes(1000);
const LARGE_BYTES = 400 * 1_048_576;
const CHUNK = Buffer.alloc(65_536);
const ETAG = '"version"';

function fileOf(sizeBytes: number, open: StoredFile['open']): StoredFile {
  return {
    id: randomUUID(),
    accountId: randomUUID(),
    contentType: 'video/mp4',
    sizeBytes,
    etag: ETAG,
    expiresAt: new Date(),
    open,
    download: open,
  };
}

/** What the reader of the large file made of it. */
const large = { readBytes: 0, closed: Promise.resolve() };

function send(request: Request, response: Response, open: StoredFile['open']): Promise<void> {
  return sendStoredFile(request, response, fileOf(BYTES.length, open), { filename: 'a.mp4' });
}

@Controller()
class FilesController {
  @Get('file')
  file(@Req() request: Request, @Res() response: Response): Promise<void> {
    const file = fileOf(BYTES.length, (range) =>
      Promise.resolve(Readable.from([range ? BYTES.subarray(range.first, range.last + 1) : BYTES])),
    );
    return sendStoredFile(request, response, file, { filename: 'dubbed-es"\r\n.mp4' });
  }

  @Get('short')
  short(@Req() request: Request, @Res() response: Response): Promise<void> {
    return send(request, response, () => Promise.resolve(Readable.from([BYTES.subarray(1)])));
  }

  @Get('long')
  long(@Req() request: Request, @Res() response: Response): Promise<void> {
    const bytes = Readable.from([BYTES, Buffer.from('HTTP/1.1 200 OK\r\n\r\nsmuggled')]);
    return send(request, response, () => Promise.resolve(bytes));
  }

  @Get('lost')
  lost(@Req() request: Request, @Res() response: Response): Promise<void> {
    const lost = new GatewayError('service_unavailable', 'no', { retryAfterSeconds: 30 });
    return send(request, response, () => Promise.reject(lost));
  }

  @Get('broken-at-once')
  brokenAtOnce(@Req() request: Request, @Res() response: Response): Promise<void> {
    const bytes = Readable.from([BYTES]);
    return send(request, response, () => Promise.resolve(bytes.destroy(new Error('broken'))));
  }

  @Get('broken-in-the-middle')
  brokenInTheMiddle(@Req() request: Request, @Res() response: Response): Promise<void> {
    let reads = 0;
    const bytes = new Readable({
      read() {
        if (reads++ === 0) this.push(BYTES.subarray(0, 3));
        else this.destroy(new Error('broken'));
      },
    });
    return send(request, response, () => Promise.resolve(bytes));
  }

  @Get('large')
  large(@Req() request: Request, @Res() response: Response): Promise<void> {
    const file = fileOf(LARGE_BYTES, () => {
      const bytes = Readable.from(chunks());
      large.closed = once(bytes, 'close').then(() => undefined);
      return Promise.resolve(bytes);
    });
    return sendStoredFile(request, response, file, { filename: 'a.mp4', stallMs: 300 });
  }
}

function* chunks(): Generator<Buffer> {
  for (large.readBytes = 0; large.readBytes < LARGE_BYTES; large.readBytes += CHUNK.length) {
    yield CHUNK;
  }
}

@Module({ controllers: [FilesController] })
class FilesModule {}

let app: NestExpressApplication;
let url: string;

beforeAll(async () => {
  app = await NestFactory.create<NestExpressApplication>(FilesModule, new FastExpressAdapter(), {
    logger: false,
  });
  app.useGlobalFilters(new GatewayErrorFilter());
  await app.listen(0, '127.0.0.1');
  url = await app.getUrl();
});
afterAll(async () => {
  app.getHttpServer().closeAllConnections();
  await app.close();
});

async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const answer = await fetch(url + path, { headers, method });
  return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
}

describe('sendStoredFile', () => {
  it('sends the whole file with its type, length, name and tag', async () => {
    const { answer, bytes } = await get('/file');
    expect(answer.status).toBe(200);
    expect(bytes.equals(BYTES)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': '1000',
      'content-disposition': 'attachment; filename="dubbed-es___.mp4"',
      'accept-ranges': 'bytes',
      etag: ETAG,
      'cache-control': 'private, no-cache',
    });
  });

  it.each([
    ['bytes=0-99', 0, 99],
    ['bytes=100-', 100, 999],
    ['bytes=-50', 950, 999],
    ['bytes=990-5000', 990, 999],
  ])('answers %s with 206 and exactly those bytes (CONTENT-04)', async (range, first, last) => {
    const { answer, bytes } = await get('/file', { range });
    expect(answer.status).toBe(206);
    expect(answer.headers.get('content-range')).toBe(`bytes ${first}-${last}/1000`);
    expect(answer.headers.get('content-length')).toBe(String(last - first + 1));
    expect(bytes.equals(BYTES.subarray(first, last + 1))).toBe(true);
  });

  it('answers several ranges with the whole file', async () => {
    const { answer, bytes } = await get('/file', { range: 'bytes=0-9,20-29' });
    expect(answer.status).toBe(200);
    expect(bytes.equals(BYTES)).toBe(true);
  });

  it('answers a range behind the end with 416 and the size (CONTENT-05)', async () => {
    const { answer, bytes } = await get('/file', { range: 'bytes=1000-' });
    expect(answer.status).toBe(416);
    expect(answer.headers.get('content-range')).toBe('bytes */1000');
    expect(answer.headers.get('content-type')).toMatch(/json/);
    expect(JSON.parse(bytes.toString()).error).toMatchObject({
      code: 'range_not_satisfiable',
      param: 'Range',
    });
  });

  it.each([
    [ETAG, 206],
    ['"other"', 200],
    [`W/${ETAG}`, 200],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 200],
  ])('honours a range under If-Range %s with %i', async (ifRange, status) => {
    const { answer } = await get('/file', { range: 'bytes=0-9', 'if-range': ifRange });
    expect(answer.status).toBe(status);
  });

  it.each([ETAG, `W/${ETAG}`, `"a", ${ETAG}`, '*'])(
    'answers If-None-Match %s with 304',
    async (tag) => {
      const { answer, bytes } = await get('/file', { 'if-none-match': tag, range: 'bytes=0-9' });
      expect(answer.status).toBe(304);
      expect(answer.headers.get('etag')).toBe(ETAG);
      expect(answer.headers.get('cache-control')).toBe('private, no-cache');
      expect(bytes).toHaveLength(0);
    },
  );

  it('answers HEAD with the head of the whole file', async () => {
    const { answer, bytes } = await get('/file', { range: 'bytes=0-9' }, 'HEAD');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-length')).toBe('1000');
    expect(bytes).toHaveLength(0);
  });

  it('answers 503 if the store fails, without the headers of the file', async () => {
    const { answer } = await get('/lost');
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('30');
    expect(answer.headers.get('content-disposition')).toBeNull();
  });

  it('aborts the response if the file is too short', async () => {
    await expect(get('/short')).rejects.toThrow();
  });

  it('sends nothing after the announced length if the file is too long', async () => {
    const socket = connect((app.getHttpServer().address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET /long HTTP/1.1\r\nHost: x\r\n\r\n');
    const answer = (await buffer(socket)).toString('latin1');
    expect(answer).toContain(`Content-Length: ${BYTES.length}`);
    expect(answer).not.toContain('smuggled');
  });

  it.each(['at-once', 'in-the-middle'])(
    'whose stream is destroyed %s is cut, and nothing else is',
    async (when) => {
      const cut = fetch(`${url}/broken-${when}`).then((answer) => answer.arrayBuffer());
      await expect(cut).rejects.toThrow();
      expect((await fetch(`${url}/file`)).status).toBe(200);
    },
  );

  it('reads no faster than the client and ends with it', async () => {
    const answer = await fetch(`${url}/large`);
    const reader = answer.body?.getReader();
    await reader?.read();
    expect(large.readBytes).toBeLessThan(LARGE_BYTES / 4);
    await reader?.cancel();
    await large.closed;
    expect(large.readBytes).toBeLessThan(LARGE_BYTES / 2);
  });

  it('disconnects a client that reads nothing', async () => {
    large.readBytes = 0;
    const socket = connect((app.getHttpServer().address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined).pause();
    socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    while (large.readBytes < CHUNK.length) await new Promise((resolve) => setTimeout(resolve, 5));
    await large.closed;
    expect(large.readBytes).toBeLessThan(LARGE_BYTES / 2);
    socket.destroy();
  });
});
