import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { FastExpressAdapter } from './fast-express.adapter.js';

@Module({})
class EmptyModule {}

/** Connects as many clients as it is told, and prints how many were connected after two seconds. */
const CLIENTS = `
  const [port, count] = process.argv.slice(1).map(Number);
  let connected = 0;
  for (let client = 0; client < count; client += 1) {
    const socket = require('node:net').connect(port, '127.0.0.1', () => (connected += 1));
    socket.on('error', () => undefined);
  }
  setTimeout(() => { console.log(connected); process.exit(0); }, 2_000);`;
/** More than Node's own 511. */
const WANTED = 1_000;

let app: NestExpressApplication;

beforeAll(async () => {
  app = await NestFactory.create<NestExpressApplication>(EmptyModule, new FastExpressAdapter(), {
    bodyParser: false,
    logger: false,
  });
  await app.listen(0, '127.0.0.1');
});
afterAll(() => app.close());

/** The kernel lets no server have more. */
function mostOfTheKernel(): number {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
  } catch {
    return WANTED;
  }
}

describe('clients that connect while the process is busy', () => {
  it('wait to be accepted, a thousand of them', () => {
    const { port } = app.getHttpServer().address() as AddressInfo;
    const count = Math.min(WANTED, mostOfTheKernel());
    // The event loop stands still until the clients are gone.
    const shown = execFileSync(process.execPath, ['-e', CLIENTS, String(port), String(count)]);
    expect(Number(shown)).toBe(count);
  });
});
