import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { handVendorsOver, oneByOne } from './reload-catalog.js';

describe('handing the vendors over to the sandbox', () => {
  let url = '';
  let asked = 0;
  let failures = 0;
  const server = createServer((request, response) => {
    asked += 1;
    request.resume();
    response.writeHead(asked > failures ? 204 : 500).end();
  });
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  });

  it.each([
    ['that fails twice is done at the third time, and nobody is told', 2, []],
    ['that fails for good is logged once', 9, ['the sandbox does not respond']],
  ])('%s', async (_what, fails, expected) => {
    [asked, failures] = [0, fails];
    const told: unknown[] = [];
    const write = (line: string) => told.push((JSON.parse(line) as { msg: string }).msg);
    const sandbox = { url, mediaUrl: `${url}/media`, apiKey: 'key', twinHeader: 'x-version' };
    await handVendorsOver(sandbox, { providers: [] }, pino({}, { write }));
    expect([asked, told]).toEqual([3, expected]);
  });
});

describe('work in turn', () => {
  it('begins once the work before it has ended', async () => {
    const begun: (() => void)[] = [];
    const next = oneByOne(() => new Promise<void>((resolve) => begun.push(resolve)));
    const [first, second] = [next(), next()];
    await setImmediate();
    expect(begun).toHaveLength(1);
    begun[0]?.();
    await first;
    await setImmediate();
    expect(begun).toHaveLength(2);
    begun[1]?.();
    await second;
  });
});
