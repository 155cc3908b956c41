import { createServer } from 'node:http';

/** The provider of the tasks benchmark. It answers for every job that it is still running. */
const running = JSON.stringify({ status: 'running', progress: 10 });

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(running);
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'));
