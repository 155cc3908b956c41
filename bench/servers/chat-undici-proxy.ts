import { createServer } from 'node:http';
import { Pool } from 'undici';

/** The limit: a proxy of node:http and an undici Pool that does nothing else. */
const pool = new Pool(`http://127.0.0.1:${process.argv[3]}`, { connections: 256 });
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as object;
    pool
      .request({
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { 'content-type': 'application/json', authorization: 'Bearer bench' },
        body: JSON.stringify(body),
      })
      .then(
        (answer) => {
          const type = String(answer.headers['content-type']);
          response.writeHead(answer.statusCode, { 'content-type': type });
          answer.body.pipe(response);
        },
        () => response.destroy(),
      );
  });
});
server.keepAliveTimeout = 60_000;
server.listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 4_096 }, () =>
  process.send?.('ready'),
);
