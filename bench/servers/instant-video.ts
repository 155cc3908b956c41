import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Of a video whose prompt asks for no size. */
const FILE_BYTES = 32 * 1024 * 1024;
const FILE_HEAD = Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isommp42', 'latin1');
const CHUNK = Buffer.alloc(65_536, 0x5a);

/**
 * Has every video at once, as the provider of the benchmarks of files; a file only begins like one. A prompt such as
 * "2000000 bytes" says how long it is.
 */
const server = createServer((request, response) => {
  void answer(request, response);
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const url = request.url ?? '';
  if (url.endsWith('/content')) {
    await sendFile(response, Number(/video-(\d+)/.exec(url)?.[1]));
    return;
  }
  const [, asked = String(FILE_BYTES)] = /(\d+) bytes/.exec(text) ?? [];
  const id = /video-\d+/.exec(url)?.[0] ?? `video-${asked}`;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ id, status: 'completed', progress: 100 }));
}

function* chunksOf(bytes: number): Generator<Buffer> {
  yield FILE_HEAD;
  for (let left = bytes - FILE_HEAD.length; left > 0; left -= CHUNK.length) {
    yield CHUNK.subarray(0, left);
  }
}

async function sendFile(response: ServerResponse, bytes: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes });
  // The gateway may leave.
  await pipeline(Readable.from(chunksOf(bytes)), response).catch(() => undefined);
}

server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'));
