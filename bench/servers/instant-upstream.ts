import { createServer } from 'node:http';

/** Answers every request at once with the same short MP3, as the provider of the speech benchmark. */
const FRAME_BYTES = 417;
const frame = Buffer.alloc(FRAME_BYTES);
Buffer.from([0xff, 0xfb, 0x90, 0xc4]).copy(frame);
const audio = Buffer.concat(Array.from({ length: 10 }, () => frame));

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    response.writeHead(200, { 'content-type': 'audio/mpeg', 'request-id': 'bench' });
    response.end(audio);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'));
