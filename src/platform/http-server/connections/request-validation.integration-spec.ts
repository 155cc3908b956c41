import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { withValidatedRequest } from './request-validation.js';

it.each([
  ['/v1/tasks/%ff', '/v1/tasks/%25ff'],
  ['/v1/tasks/%20%', '/v1/tasks/%2520%25'],
  ['/v1/%ed%a0%80?b=%ff', '/v1/%25ed%25a0%2580?b=%ff'],
  ['/v1/%41%2520?b=%ff', '/v1/%41%2520?b=%ff'],
  ['/v1/tasks?b=%', '/v1/tasks?b=%'],
])('takes the path %s, which may not be decodable, as it is written', async (sent, served) => {
  const server = createServer(
    withValidatedRequest((request, response) => {
      response.end(request.url);
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await (await fetch(`http://127.0.0.1:${port}${sent}`)).text()).toBe(served);
  server.closeAllConnections();
  server.close();
});
