import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Receivers of webhooks, each on its own port; the first `hanging` of them never answer. `GET /` of the main port
 * returns the ports; `GET /arrivals` what has arrived since the last such request: milliseconds between the `t` of each
 * body and its arrival.
 */
const [mainPort = 0, count = 0, hanging = 0] = process.argv.slice(2).map(Number);
let arrivals: number[] = [];

async function receiver(answers: boolean): Promise<number> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      if (!answers) return;
      const { t } = JSON.parse(Buffer.concat(chunks).toString()) as { t: number };
      arrivals.push(Date.now() - t);
      response.writeHead(204).end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

const ports = await Promise.all(Array.from({ length: count }, (_, n) => receiver(n >= hanging)));
const main = createServer((request, response) => {
  response.end(JSON.stringify(request.url === '/arrivals' ? arrivals : ports));
  if (request.url === '/arrivals') arrivals = [];
});
main.listen(mainPort, '127.0.0.1', () => process.send?.('ready'));
