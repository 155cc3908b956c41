import { createServer } from 'node:http';

/** Reads every upload to its end and answers the same short transcript, as the provider of the upload benchmark. */
const transcript = JSON.stringify({ text: 'Hello', language_code: 'eng', words: [] });

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'bench' });
    response.end(transcript);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'));
