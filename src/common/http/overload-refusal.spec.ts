import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Agent, type Dispatcher, request } from 'undici';
import { SystemClock } from '../time/clock.js';
import { ConnectionTurns } from './connection-turns.js';
import { overloadRefusal } from './overload-refusal.js';
import { RequestPace } from './request-pace.js';

/** More requests than may begin before the process counts as crowded. */
const CROWD = 4_000;

let server: Server;
let agent: Agent;
let url: string;
let isCrowded: boolean;
let refused: number;

/** A server before which a crowd stands that never gets smaller; each has waited for more than a second. */
beforeEach(async () => {
  let nowMs = 0;
  const pace = new RequestPace(() => (nowMs += 1_000));
  const turns = new ConnectionTurns(
    (_request, response) => response.end('served'),
    undefined,
    pace,
  );
  refused = 0;
  turns.refuseOverload(overloadRefusal(new SystemClock(), () => (refused += 1)));
  server = createServer(turns.take).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  agent = new Agent({ connections: 1 });
  isCrowded = true;
  const comeAgain = (): void => {
    if (isCrowded) pace.run(comeAgain);
  };
  for (let index = 0; index < CROWD; index++) pace.run(comeAgain);
});
afterEach(async () => {
  isCrowded = false;
  await agent.close();
  server.close();
});

const call = async (method: Dispatcher.HttpMethod, path: string, body?: string) => {
  const answer = await request(url + path, { method, body: body ?? null, dispatcher: agent });
  return { ...answer, text: await answer.body.text() };
};

it('a posted call is answered 503 with Retry-After and the ids of every answer', async () => {
  const { statusCode, headers, text } = await call('POST', '/v1/audio/speech', '{"model":"a"}');
  expect(statusCode).toBe(503);
  expect(headers['retry-after']).toBe('1');
  expect(headers['x-gateway-execution-id']).toMatch(/^exec_[0-9a-f]{32}$/);
  expect(headers['x-request-id']).toBe(headers['x-gateway-execution-id']);
  expect(JSON.parse(text)).toMatchObject({
    error: { code: 'service_unavailable', type: 'server_error' },
  });
  expect(refused).toBe(1);
});

it('the connection of a refused call serves the next one', async () => {
  const connected = once(server, 'connection');
  let connections = 0;
  server.on('connection', () => connections++);
  for (let round = 1; round <= 3; round += 1) {
    await call('POST', '/v1/chat/completions', 'x'.repeat(100_000));
    expect(refused).toBe(round);
  }
  await connected;
  expect(connections).toBe(1);
});

it.each([
  ['GET', '/v1/tasks/task_1'],
  ['GET', '/health/live'],
  ['POST', '/admin/accounts'],
] as const)('%s %s is served all the same', async (method, path) => {
  expect(await call(method, path)).toMatchObject({ statusCode: 200, text: 'served' });
  expect(refused).toBe(0);
});
