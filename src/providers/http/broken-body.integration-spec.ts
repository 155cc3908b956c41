import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { afterAll, expect, it } from '@jest/globals';
import axios from 'axios';
import { Agent } from 'undici';
import { type ExchangeConfig, undiciAdapter } from './undici-adapter.js';

const CUT_AFTER_MS = 50;
const agent = new Agent();
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-length': 10 }).write('five!');
  setTimeout(() => response.destroy(), CUT_AFTER_MS);
});
afterAll(async () => {
  server.close();
  await agent.destroy();
});

it('a body that broke keeps the error of its provider for a later reader', async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const told = new Error('told');
  const client = axios.create({ adapter: undiciAdapter(agent), responseType: 'stream' });
  const config: ExchangeConfig = { bodyError: () => told };
  const { data } = await client.get<Readable>(`http://127.0.0.1:${port}`, config);
  await new Promise((resolve) => data.once('close', resolve));
  expect(data.errored).toBe(told);
});
