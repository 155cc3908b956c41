import { createServer } from 'node:http';

const FILE_BYTES = 32 * 1024 * 1024;
const FILE_HEAD = Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isommp42', 'latin1');

/** Has every video at once, as the provider of the download benchmark; its file only begins like one. */
const file = Buffer.concat([FILE_HEAD, Buffer.alloc(FILE_BYTES - FILE_HEAD.length, 0x5a)]);

const server = createServer((request, response) => {
  request.resume();
  if (request.url?.endsWith('/content') === true) {
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': file.length });
    response.end(file);
  } else {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'video', status: 'completed', progress: 100 }));
  }
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'));
