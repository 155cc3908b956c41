import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type S3Server, startS3Server } from '../../../test/support/s3-server.js';
import type { FileStore } from './file-store.port.js';
import { openFileStore } from './open-file-store.js';

const MEGABYTE = 1_048_576;
const CHUNK_BYTES = 65_536;
let s3: S3Server;
let folder: string;

beforeAll(async () => {
  s3 = await startS3Server();
  folder = await mkdtemp(join(tmpdir(), 'shim-files-'));
});
afterAll(async () => {
  await s3.stop();
  await rm(folder, { recursive: true, force: true });
});

async function* piecesOf(bytes: Buffer, brokenAt = Infinity): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    if (at >= brokenAt) throw new Error('the source broke off');
    yield await Promise.resolve(bytes.subarray(at, at + CHUNK_BYTES));
  }
}

async function* neverEnding(): AsyncGenerator<Buffer> {
  for (;;) yield await new Promise<Buffer>((resolve) => setTimeout(resolve, 5, Buffer.alloc(1000)));
}

describe.each([
  ['a local directory', () => ({ storageUrl: `file://${folder}`, s3Endpoint: undefined })],
  ['S3', () => ({ storageUrl: `s3://${s3.bucket}/some/prefix`, s3Endpoint: s3.endpoint })],
])('FileStore in %s', (_where, settings) => {
  let store: FileStore;
  const signal = new AbortController().signal;
  const newKey = (): string => `${randomUUID()}/${randomUUID()}`;

  beforeAll(async () => {
    store = await openFileStore({ ...settings(), dataDir: '/nowhere' });
  });

  afterAll(() => {
    store.close();
  });

  async function kept(bytes: Buffer): Promise<string> {
    const key = newKey();
    await store.write(key, { body: piecesOf(bytes), contentType: 'video/mp4', signal });
    return key;
  }
  async function bytesOf(key: string, range?: { first: number; last: number }): Promise<Buffer> {
    return Buffer.concat((await (await store.read(key, range)).toArray()) as Buffer[]);
  }
  const parts = async (): Promise<string[]> =>
    (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.part'));

  it.each([0, 1, CHUNK_BYTES, 8 * MEGABYTE, 20 * MEGABYTE + 17])(
    'returns %i bytes unchanged',
    async (size) => {
      const bytes = randomBytes(size);
      const key = await kept(bytes);
      expect((await bytesOf(key)).equals(bytes)).toBe(true);
      expect(await parts()).toEqual([]);
    },
  );

  it('returns any range', async () => {
    const bytes = randomBytes(9 * MEGABYTE);
    const key = await kept(bytes);
    for (const [first, last] of [
      [0, 0],
      [5, 99],
      [8 * MEGABYTE - 3, 8 * MEGABYTE + 3],
      [9 * MEGABYTE - 1, 9 * MEGABYTE - 1],
    ] as const) {
      const part = await bytesOf(key, { first, last });
      expect(part.equals(bytes.subarray(first, last + 1))).toBe(true);
    }
  });

  it.each([1, 3 * CHUNK_BYTES, 17 * MEGABYTE])(
    'leaves no file of a source that breaks after %i bytes',
    async (brokenAt) => {
      const key = newKey();
      const body = piecesOf(Buffer.alloc(20 * MEGABYTE), brokenAt);
      const writing = store.write(key, { body, contentType: 'video/mp4', signal });
      await expect(writing).rejects.toThrow('the source broke off');
      await expect(store.read(key)).rejects.toThrow(/ENOENT|key does not exist/);
      expect(await parts()).toEqual([]);
    },
  );

  it('ends an aborted write', async () => {
    const key = newKey();
    const stop = new AbortController();
    setTimeout(() => {
      stop.abort();
    }, 50);
    const body = neverEnding();
    const writing = store.write(key, { body, contentType: 'audio/mpeg', signal: stop.signal });
    await expect(writing).rejects.toThrow(/abort/i);
    await expect(store.read(key)).rejects.toThrow(/ENOENT|key does not exist/);
  });

  it('writes a file while the maximum number of downloads is open and no client reads', async () => {
    const key = await kept(randomBytes(CHUNK_BYTES));
    // A machine may allow fewer descriptors than the store.
    const length = Math.min(store.readers.total, 1_000);
    const readers = Array.from({ length }, () => store.read(key));
    const unread = await Promise.all(readers);
    const bytes = randomBytes(1000);
    try {
      expect((await bytesOf(await kept(bytes))).equals(bytes)).toBe(true);
    } finally {
      for (const reader of unread) reader.destroy();
    }
  });

  it('removes a file, and a second time without an error', async () => {
    const key = await kept(randomBytes(1000));
    await store.remove(key);
    await expect(store.read(key)).rejects.toThrow(/ENOENT|key does not exist/);
    await store.remove(key);
  });
});

describe('openFileStore', () => {
  it('names STORAGE_URL where the directory cannot be made', async () => {
    const settings = { storageUrl: 'file:///dev/null/files', s3Endpoint: undefined, dataDir: '.' };
    await expect(openFileStore(settings)).rejects.toThrow(/STORAGE_URL: files cannot be kept/);
  });
});
