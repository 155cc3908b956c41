import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { newFile, of, StoredFileHarness } from '../../../test/support/stored-file-harness.js';
import { DAY_MS, HOUR_MS } from '../../common/time/spans.js';
import type { FileWriting } from './file-store.port.js';
import { LocalFileStore } from './local-file-store.js';

/** How often it is looked what a large file holds of the memory. */
const LOOK_BYTES = 32 * 1_048_576;

let harness: StoredFileHarness;
beforeAll(async () => {
  harness = await StoredFileHarness.start();
});
afterAll(() => harness.database.drop());
beforeEach(() => harness.reset());
afterEach(() => harness.clear());

const bytesOf = async (body: Readable): Promise<Buffer> =>
  Buffer.concat((await body.toArray()) as Buffer[]);

function stoppedSoon(): AbortSignal {
  const stop = new AbortController();
  setTimeout(() => {
    stop.abort(new Error('no longer'));
  }, 30);
  return stop.signal;
}

setFlagsFromString('--expose-gc');
const forceGc = runInNewContext('gc') as () => void;

function heldBytes(): number {
  forceGc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function full(): Error {
  return new Error('ENOSPC: no space left on device');
}

function broken(): Readable {
  return Readable.from(
    (function* () {
      yield randomBytes(10);
      throw new Error('the source broke off');
    })(),
  );
}

describe('StoredFiles', () => {
  it('keeps bytes, type and size until the time is over', async () => {
    const bytes = randomBytes(300_000);
    const { id, accountId } = await harness.files.save(newFile(of(bytes)));
    const file = await harness.files.kept(accountId, id);
    expect(file).toMatchObject({ contentType: 'video/mp4', sizeBytes: 300_000 });
    expect((await bytesOf(await file.open())).equals(bytes)).toBe(true);
    const part = await bytesOf(await file.open({ first: 10, last: 19 }));
    expect(part.equals(bytes.subarray(10, 20))).toBe(true);
  });

  it('finds a file only for its account', async () => {
    const { id } = await harness.files.save(newFile(of(randomBytes(10))));
    expect(await harness.files.find(randomUUID(), id)).toBeUndefined();
  });

  it('answers 410 content_expired from the fourteenth day on, swept or not', async () => {
    const { id, accountId } = await harness.files.save(newFile(of(randomBytes(10))));
    harness.clock.ms += 14 * DAY_MS - 1;
    expect(await harness.files.find(accountId, id)).toBeDefined();
    harness.clock.ms += 1;
    const gone = { code: 'content_expired', status: 410 };
    await expect(harness.files.kept(accountId, id)).rejects.toMatchObject(gone);
    harness.clock.ms += DAY_MS;
    await harness.sweeper.sweep();
    await expect(harness.files.kept(accountId, id)).rejects.toMatchObject(gone);
    await harness.expectNothingLeft();
  });

  it.each([
    ['breaks off', () => newFile(broken()), 'the source broke off'],
    ['is too large', () => newFile(of(randomBytes(20)), { maxBytes: 19 }), /larger than 19 bytes/],
    [
      'announces that it is too large',
      () => newFile(new PassThrough(), { announcedBytes: 20, maxBytes: 19 }),
      /larger than 19 bytes/,
    ],
    [
      'was unwanted before it began',
      () => newFile(of(randomBytes(20)), { signal: AbortSignal.abort(new Error('no longer')) }),
      'no longer',
    ],
    [
      'becomes unwanted while it stands still',
      () => newFile(new PassThrough(), { signal: stoppedSoon() }),
      'no longer',
    ],
  ])('leaves nothing of a source that %s', async (_what, file, message) => {
    await expect(harness.files.save(file())).rejects.toThrow(message);
    await harness.expectNothingLeft();
  });

  it.each([
    ['before its row is written', (body: PassThrough) => body.destroy(new Error('broken'))],
    [
      'after its first bytes',
      (body: PassThrough) => {
        body.write(randomBytes(10), () => body.destroy(new Error('broken')));
      },
    ],
  ])('survives a source that is destroyed %s', async (_when, destroy) => {
    const body = new PassThrough({ highWaterMark: 1 });
    const saving = harness.files.save(newFile(body));
    destroy(body);
    await expect(saving).rejects.toThrow('broken');
    await harness.expectNothingLeft();
  });

  it('accepts exactly the maximum number of bytes', async () => {
    const { sizeBytes } = await harness.files.save(newFile(of(randomBytes(20)), { maxBytes: 20 }));
    expect(sizeBytes).toBe(20);
  });

  it.each([
    ['at once', () => Promise.reject(full())],
    [
      'in the middle',
      async (_key: string, { body }: FileWriting) => {
        await body[Symbol.asyncIterator]().next();
        throw full();
      },
    ],
  ])('answers 503 service_unavailable where the disk is full %s', async (_when, write) => {
    harness.use({ ...harness.localStore(), write });
    const body = Readable.from([randomBytes(10), randomBytes(10)]);
    const saving = harness.files.save(newFile(body));
    const unavailable = { code: 'service_unavailable', retryAfterSeconds: 30 };
    await expect(saving).rejects.toMatchObject(unavailable);
    expect(body.destroyed).toBe(true);
    await harness.expectNothingLeft();
  });

  it('is removed by the sweeper where it appears after its writing was broken off', async () => {
    const stop = new AbortController();
    const store = new LocalFileStore(harness.folder);
    let appear = (): Promise<void> => Promise.resolve();
    harness.use({
      ...harness.localStore(),
      mayFinishLate: true,
      write: (key, writing) => {
        const late = { body: of(randomBytes(10)), signal: new AbortController().signal };
        appear = () => store.write(key, { ...writing, ...late });
        stop.abort(new Error('too slow'));
        return Promise.reject(new Error('no answer'));
      },
    });
    const file = newFile(of(randomBytes(10)), { signal: stop.signal });
    await expect(harness.files.save(file)).rejects.toThrow('too slow');
    await appear();
    harness.clock.ms += HOUR_MS;
    expect(await harness.sweeper.sweep()).toBe(1);
    await harness.expectNothingLeft();
  });

  it('stores and returns a large file in little memory (CONTENT-11)', async () => {
    const size = 256 * 1_048_576;
    const start = heldBytes();
    let most = start;
    const look = (at: number): void => {
      if (at % LOOK_BYTES < 65_536) most = Math.max(most, heldBytes());
    };
    const source = Readable.from(
      (function* () {
        for (let at = 0; at < size; at += 65_536) {
          look(at);
          yield Buffer.alloc(65_536, at % 251);
        }
      })(),
    );
    const file = await harness.files.save(newFile(source, { maxBytes: size }));
    let read = 0;
    for await (const chunk of await file.open()) {
      look(read);
      read += (chunk as Buffer).length;
    }
    expect(read).toBe(size);
    expect(most - start).toBeLessThan(size / 4);
  });

  it('answers 503 service_unavailable if bytes are lost', async () => {
    const file = await harness.files.save(newFile(of(randomBytes(10))));
    await rm(join(harness.folder, file.accountId, file.id));
    await expect(file.open()).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await harness.storageErrors()).toEqual({ read: 1, write: 0, remove: 0 });
  });

  it('removes a file at once for clients, and leaves the bytes to the sweeper if the store fails', async () => {
    const { accountId, id } = await harness.files.save(newFile(of(randomBytes(10))));
    harness.use({ ...harness.localStore(), remove: () => Promise.reject(new Error('away')) });
    await harness.files.remove(accountId, id);
    expect(await harness.files.find(accountId, id)).toBeUndefined();
    expect(await harness.storageErrors()).toEqual({ read: 0, write: 0, remove: 1 });
    harness.use(new LocalFileStore(harness.folder));
    harness.clock.ms += HOUR_MS;
    expect(await harness.sweeper.sweep()).toBe(1);
    await harness.expectNothingLeft();
  });
});
