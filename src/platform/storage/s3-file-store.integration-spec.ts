import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { S3FileStore } from './s3-file-store.js';

const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'the-id-of-the-key', AWS_SECRET_ACCESS_KEY: 'the-secret' };
const LIMITS = { responseMs: 100, uploadMs: 300 };
const RANGE = { first: 3, last: 5 };

describe('S3FileStore with an S3 that fails', () => {
  let react: (socket: Socket) => void;
  let heads: string[];
  let sockets: Socket[];
  let server: Server;
  let store: S3FileStore;

  beforeEach(async () => {
    Object.assign(process.env, CREDENTIALS);
    heads = [];
    sockets = [];
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      sockets.push(socket);
      socket.once('data', (head: Buffer) => {
        heads.push(head.toString('latin1'));
        react(socket);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const place = { bucket: 'media', prefix: '', region: 'us-east-1' };
    store = new S3FileStore({ ...place, endpoint: `http://127.0.0.1:${port}` }, LIMITS);
  });
  afterEach(async () => {
    store.close();
    server.close();
    await once(server, 'close');
  });

  const write = (): Promise<void> =>
    store.write('key', {
      body: (async function* () {
        yield await Promise.resolve(Buffer.from('abc'));
      })(),
      contentType: 'video/mp4',
      signal: new AbortController().signal,
    });

  /** Sends text as fast as it is taken. */
  function endlessly(socket: Socket, head: string): void {
    const block = 'x'.repeat(65_536);
    const send = (): void => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.on('drain', send).write(head);
    send();
  }

  it.each([
    ['the whole file', '200 OK\r\nContent-Length: 10\r\n\r\n0123456789'],
    ['another range', '206 Partial\r\nContent-Range: bytes 0-2/10\r\nContent-Length: 3\r\n\r\n012'],
    ['a range without its place', '206 Partial\r\nContent-Length: 3\r\n\r\n012'],
  ])('takes no bytes of %s for the range', async (_, answer) => {
    react = (socket) => socket.end(`HTTP/1.1 ${answer}`);
    await expect(store.read('key', RANGE)).rejects.toThrow('S3 answered with another range');
  });

  it('reads the bytes of the range', async () => {
    react = (socket) =>
      socket.end(
        'HTTP/1.1 206 Partial\r\nContent-Range: bytes 3-5/10\r\nContent-Length: 3\r\n\r\n345',
      );
    await expect(store.read('key', RANGE).then(text)).resolves.toBe('345');
  });

  it.each([
    ['a failure without an end', () => store.read('key'), '500 Fault'],
    ['a written file', write, '200 OK'],
    ['a failure to remove', () => store.remove('key'), '400 Fault'],
  ])('does not read the endless answer of %s', async (_, call, status) => {
    react = (socket) => {
      endlessly(socket, `HTTP/1.1 ${status}\r\nContent-Type: application/xml\r\n\r\n<a>`);
    };
    await expect(call()).rejects.toThrow();
    // Three attempts, and what the buffers of the system hold.
    const sentBytes = sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
    expect(sentBytes).toBeLessThan(40_000_000);
  });

  it.each([
    ['reading', () => store.read('key')],
    ['writing', write],
    ['removing', () => store.remove('key')],
  ])('is left in time where it never answers: %s', async (_, call) => {
    react = () => undefined;
    await expect(call()).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(heads.length).toBeGreaterThan(1);
  });

  it('is abandoned in time if its error response never ends', async () => {
    react = (socket) => {
      socket.write('HTTP/1.1 500 Fault\r\nContent-Type: application/xml\r\n\r\n');
      const timer = setInterval(() => socket.write('<a>'), 20);
      socket.once('close', () => {
        clearInterval(timer);
      });
    };
    await expect(store.read('key')).rejects.toThrow();
  });

  it.each([301, 302, 307, 308])('is not followed to another host with a %i', async (status) => {
    const { port } = server.address() as AddressInfo;
    const location = `Location: http://localhost:${port}/elsewhere`;
    react = (socket) =>
      socket.end(`HTTP/1.1 ${status} X\r\n${location}\r\nContent-Length: 0\r\n\r\n`);
    for (const call of [() => store.read('key'), write, () => store.remove('key')]) {
      const refused: unknown = await call().catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(Error);
      expect(String(refused)).not.toMatch(/the-secret|the-id-of-the-key/);
    }
    expect(heads).toHaveLength(3);
    expect(heads.join('')).not.toMatch(/elsewhere|the-secret/);
  });
});

/** Less than the 6 s for which the client of S3 waits before it sends without an answer. */
const UNANSWERED_MS = 5_500;

describe('S3FileStore with an S3 that never answers "Expect: 100-continue"', () => {
  it('sends the parts of a large file without waiting for it', async () => {
    Object.assign(process.env, CREDENTIALS);
    const answer: RequestListener = (request, response) => {
      request.resume().once('end', () => {
        const isBegin = request.url?.includes('uploads') === true;
        response.setHeader('ETag', '"part"');
        response.end(isBegin ? '<Begun><UploadId>1</UploadId></Begun>' : '<Done/>');
      });
    };
    const s3 = createHttpServer(answer).on('checkContinue', answer).listen(0, '127.0.0.1');
    await once(s3, 'listening');
    const { port } = s3.address() as AddressInfo;
    const place = { bucket: 'media', prefix: '', region: 'us-east-1' };
    const store = new S3FileStore({ ...place, endpoint: `http://127.0.0.1:${port}` });
    const body = Readable.from([Buffer.alloc(8_000_000)]);
    const signal = AbortSignal.timeout(UNANSWERED_MS);
    await expect(store.write('key', { body, contentType: 'video/mp4', signal })).resolves.toBe(
      undefined,
    );
    store.close();
    s3.closeAllConnections();
    s3.close();
  });
});
