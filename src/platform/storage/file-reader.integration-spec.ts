import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { FileReader } from './file-reader.js';
import { sendStoredFile } from './send-stored-file.js';

const BYTES = randomBytes(3_000_000);
const READERS = 20;
let folder: string;
let path: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shim-bytes-'));
  path = join(folder, 'file');
  await writeFile(path, BYTES);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Whether the file is closed: then it has no number. */
const isClosed = (file: FileHandle): boolean => file.fd === -1;

describe('FileReader', () => {
  it.each([
    [undefined, BYTES],
    [{ first: 5, last: 99_999 }, BYTES.subarray(5, 100_000)],
    [{ first: BYTES.length - 1, last: BYTES.length - 1 }, BYTES.subarray(-1)],
    [{ first: BYTES.length, last: BYTES.length + 5 }, Buffer.alloc(0)],
  ])('are those of %j, and close the file', async (range, expected) => {
    const file = await open(path, 'r');
    const bytes = new FileReader(file, range);
    const closed = once(bytes, 'close');
    expect(Buffer.concat((await bytes.toArray()) as Buffer[]).equals(expected)).toBe(true);
    await closed;
    expect(isClosed(file)).toBe(true);
  });

  it('closes the file if the stream is not read, or destroyed in the middle', async () => {
    const unread = await open(path, 'r');
    const left = await open(path, 'r');
    const streams = [new FileReader(unread), new FileReader(left)];
    const closed = Promise.all(streams.map((bytes) => once(bytes, 'close')));
    streams[1]?.read(0);
    for (const bytes of streams) bytes.destroy();
    await closed;
    expect([unread, left].map(isClosed)).toEqual([true, true]);
  });

  it('fails with the error of a file that cannot be read', async () => {
    const bytes = new FileReader(await open(folder, 'r'));
    await expect(bytes.toArray()).rejects.toThrow('EISDIR');
  });

  it('delivers the right bytes to many slow clients at once, although buffers are reused', async () => {
    const app = express().get('/', (request, response) => {
      void sendStoredFile(request, response, fileAt(path), { filename: 'a.mp4' });
    });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const read = async (order: number): Promise<Buffer> => {
      const [answer] = (await once(get({ port, host: '127.0.0.1', agent: false }), 'response')) as [
        IncomingMessage,
      ];
      const chunks: Buffer[] = [];
      for await (const chunk of answer) {
        chunks.push(chunk as Buffer);
        if (chunks.length % (2 + order) === 0) await new Promise(setImmediate);
      }
      return Buffer.concat(chunks);
    };
    const all = await Promise.all(Array.from({ length: READERS }, (_, order) => read(order)));
    for (const bytes of all) expect(bytes.equals(BYTES)).toBe(true);
    server.close();
  });
});

function fileAt(path: string) {
  const openFile = async () => new FileReader(await open(path, 'r'));
  return {
    id: '',
    accountId: '',
    contentType: 'video/mp4',
    sizeBytes: BYTES.length,
    etag: '"x"',
    expiresAt: new Date(),
    open: openFile,
    download: openFile,
  };
}
