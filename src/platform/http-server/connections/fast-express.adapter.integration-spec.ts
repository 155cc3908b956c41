import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import {
  Body,
  Controller,
  Get,
  Logger,
  Module,
  Param,
  Post,
  Query,
  Redirect,
  Req,
  Res,
  UploadedFile,
  UseInterceptors,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  ExpressAdapter,
  FileInterceptor,
  type NestExpressApplication,
} from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { FastExpressAdapter } from './fast-express.adapter.js';
import { readJson } from '../request-body/json-body.js';

@Controller()
class ProbeController {
  @Get('request/:id')
  request(@Req() request: Request, @Param('id') id: string, @Query() query: object) {
    const { ip, ips, hostname, host, protocol, secure, path, originalUrl, xhr, subdomains } =
      request;
    return {
      ...{
        id,
        query,
        ip,
        ips,
        hostname,
        host,
        protocol,
        secure,
        path,
        originalUrl,
        xhr,
        subdomains,
      },
      agent: request.get('User-Agent'),
      accepts: request.accepts(['html', 'json']),
      is: request.is('json'),
      hasApp: request.app === request.res?.app,
      linked: request.res?.req === request,
    };
  }

  @Get('response')
  response(@Res() response: Response): void {
    response.locals.a = 1;
    response.status(201).type('text').set('X-A', 'b').append('X-A', 'c').cookie('k', 'v');
    response
      .vary('Accept')
      .links({ next: '/n' })
      .send(`sent ${response.get('X-A')}`);
  }

  @Get('redirect')
  @Redirect('/response', 303)
  redirect(): void {
    return;
  }

  @Get('sent')
  sent(@Res() response: Response): void {
    response.redirect('/response');
  }

  @Get('format')
  format(@Res() response: Response): void {
    response.format({ text: () => response.send('t'), json: () => response.jsonp({ a: 1 }) });
  }

  @Get('stream')
  async stream(@Res() response: Response): Promise<void> {
    response.type('audio/mpeg').write('a');
    await new Promise((resolve) => setTimeout(resolve, 20));
    response.end('b');
  }

  @Get('broken')
  broken(): never {
    throw new Error('secret');
  }

  @Post('echo')
  async echo(@Req() request: Request): Promise<unknown> {
    return (await readJson(request, { bytes: 1_000, values: 1_000 })).value;
  }

  @Post('upload')
  @UseInterceptors(FileInterceptor('file'))
  upload(
    @UploadedFile() file: { originalname: string; size: number },
    @Body() body: object,
  ): object {
    return { name: file.originalname, size: file.size, body: { ...body } };
  }
}

@Module({ controllers: [ProbeController] })
class ProbeModule {}

async function start(adapter: ExpressAdapter, forceCloseConnections = false) {
  Logger.overrideLogger(false);
  const app = await NestFactory.create<NestExpressApplication>(ProbeModule, adapter, {
    bodyParser: false,
    forceCloseConnections,
  });
  SwaggerModule.setup(
    'docs',
    app,
    SwaggerModule.createDocument(app, new DocumentBuilder().build()),
  );
  await app.listen(0, '127.0.0.1');
  const server = app.getHttpServer();
  const { port } = server.address() as AddressInfo;
  return { app, server, port };
}
type Started = Awaited<ReturnType<typeof start>>;

let fast: Started;
let stock: Started;

beforeAll(async () => {
  fast = await start(new FastExpressAdapter());
  stock = await start(new ExpressAdapter());
});

afterAll(async () => {
  await fast.app.close();
  await stock.app.close();
});

/** Everything in an answer, except where the two adapters differ on purpose. */
async function answer({ port }: Started, path: string, init: RequestInit = {}) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init });
  const headers = Object.fromEntries(response.headers);
  const variable = ['date', 'etag', 'x-powered-by', 'keep-alive', 'last-modified'];
  const kept = Object.entries(headers).filter(([name]) => !variable.includes(name));
  const text = (await response.text()).replaceAll(String(port), 'PORT');
  return { status: response.status, headers: Object.fromEntries(kept), text };
}

describe('FastExpressAdapter', () => {
  it.each([
    '/request/a%20b?x=1&y[z]=2&y[z]=3',
    '/response',
    '/redirect',
    '/sent',
    '/format',
    '/stream',
    '/broken',
    '/nowhere',
    '/docs',
    '/docs/swagger-ui.css',
    '/docs-json',
  ])('answers GET %s like the stock adapter', async (path) => {
    const headers = { 'x-requested-with': 'XMLHttpRequest', 'x-forwarded-for': '1.2.3.4' };

    expect(await answer(fast, path, { headers })).toEqual(await answer(stock, path, { headers }));
  });

  it('answers HEAD, wrong methods, JSON and uploads like the stock adapter', async () => {
    const form = new FormData();
    form.set('model', 'm');
    form.set('file', new Blob(['abc']), 'a.wav');
    const json = { 'content-type': 'application/json' };
    const requests: [string, RequestInit][] = [
      ['/request/a', { method: 'HEAD' }],
      ['/echo', { method: 'PUT' }],
      ['/echo', { method: 'POST', headers: json, body: '{"a":[1]}' }],
      ['/upload', { method: 'POST', body: form }],
    ];
    for (const [path, init] of requests) {
      expect(await answer(fast, path, init)).toEqual(await answer(stock, path, init));
    }
    expect((await answer(fast, '/upload', { method: 'POST', body: form })).text).toBe(
      '{"name":"a.wav","size":3,"body":{"model":"m"}}',
    );
  });

  it('follows trust proxy', async () => {
    const { app, port, server } = await start(new FastExpressAdapter());
    app.set('trust proxy', 'loopback');
    const forwarded = { 'x-forwarded-for': '1.2.3.4', 'x-forwarded-proto': 'https' };
    const { text } = await answer({ app, port, server }, '/request/a', { headers: forwarded });
    await app.close();

    expect(JSON.parse(text)).toMatchObject({ ip: '1.2.3.4', protocol: 'https', secure: true });
  });

  it('sends neither ETag nor X-Powered-By', async () => {
    const { headers } = await fetch(`http://127.0.0.1:${fast.port}/request/a`);
    expect([headers.get('etag'), headers.get('x-powered-by')]).toEqual([null, null]);
  });

  it('bounds headers and slow requests, not slow answers', () => {
    const { headersTimeout, requestTimeout, keepAliveTimeout, timeout, maxHeadersCount } =
      fast.server;

    expect({ headersTimeout, requestTimeout, keepAliveTimeout, timeout, maxHeadersCount }).toEqual({
      headersTimeout: 10_000,
      requestTimeout: 120_000,
      keepAliveTimeout: 65_000,
      timeout: 0,
      // The gateway checks this itself, because Node would drop the headers beyond its limit.
      maxHeadersCount: 0,
    });
  });

  it('reports back-pressure when 16 kB wait for the client', () => {
    expect(fast.server).toHaveProperty('highWaterMark', 16_384);
  });

  it('lets a running answer end when the app closes, then lets the connection go', async () => {
    const { app, port } = await start(new FastExpressAdapter());
    const response = await fetch(`http://127.0.0.1:${port}/stream`);
    const closing = app.close();

    expect(await response.text()).toBe('ab');
    await closing;
  });

  it('closes every connection on close with forceCloseConnections', async () => {
    const { app, port } = await start(new FastExpressAdapter(), true);
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write('GET /stream HTTP/1.1\r\n');
    await once(socket, 'connect');
    const closed = new Promise((resolve) => socket.on('close', resolve));
    await app.close();

    await expect(closed).resolves.toBeDefined();
  });
});
