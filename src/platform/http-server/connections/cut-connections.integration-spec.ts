import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { Controller, Get, Logger, Module, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Response } from 'express';
import { SseWriter } from '../responses/sse-response.js';
import { FastExpressAdapter } from './fast-express.adapter.js';

@Controller()
class EventsController {
  /** Goes on until the reader is gone. */
  @Get('events')
  async events(@Res() response: Response): Promise<void> {
    await new Promise(setImmediate);
    const events = new SseWriter(response);
    while (!events.isGone) await events.send('x'.repeat(100_000));
  }
}

@Module({ controllers: [EventsController] })
class EventsModule {}

it('closes the connections of unread streams, so that the app can close', async () => {
  Logger.overrideLogger(false);
  const adapter = new FastExpressAdapter();
  const app = await NestFactory.create<NestExpressApplication>(EventsModule, adapter, {
    bodyParser: false,
  });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write('GET /events HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'readable');

  const sinceMs = performance.now();
  adapter.cutConnections();
  await app.close();
  expect(performance.now() - sinceMs).toBeLessThan(5_000);
  socket.destroy();
});
