import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { Clock } from '../common/time/clock.js';
import type { Ticker } from '../ticker/ticker.js';
import type { FileStore, FileWriting } from './file-store.port.js';
import { LocalFileStore } from './local-file-store.js';
import { StoredFileSweeper } from './stored-file-sweeper.js';
import type { NewFile } from './stored-file.js';
import { StoredFiles } from './stored-files.js';

const START_MS = 1_900_000_000_000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** How often it is looked what a large file holds of the memory. */
const LOOK_BYTES = 32 * 1_048_576;

class HandClock extends Clock {
  ms = START_MS;
  nowMs(): number {
    return this.ms;
  }
}

let database: TestDatabase;
let folder: string;
let clock: HandClock;
let files: StoredFiles;
let sweeper: StoredFileSweeper;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.dataSource.query('DELETE FROM stored_file');
  folder = await mkdtemp(join(tmpdir(), 'shim-files-'));
  use(new LocalFileStore(folder));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

function use(store: FileStore): void {
  clock = new HandClock();
  files = new StoredFiles(store, database.dataSource, clock);
  sweeper = new StoredFileSweeper(files, database.dataSource, clock, {} as Ticker);
}

function newFile(body: Readable, more: Partial<NewFile> = {}): NewFile {
  return {
    accountId: randomUUID(),
    ownerId: randomUUID(),
    contentType: 'video/mp4',
    body,
    maxBytes: 1_000_000,
    expiresAt: new Date(START_MS + 14 * DAY_MS),
    ...more,
  };
}
const of = (bytes: Buffer): Readable => Readable.from([bytes]);
const bytesOf = async (body: Readable): Promise<Buffer> =>
  Buffer.concat((await body.toArray()) as Buffer[]);

/** Nothing in the table, nothing in the directory but folders. */
async function expectNothingLeft(): Promise<void> {
  expect(await database.dataSource.query('SELECT id FROM stored_file')).toEqual([]);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  expect(entries.filter((entry) => entry.isFile())).toEqual([]);
}

function localStore(): FileStore {
  const store = new LocalFileStore(folder);
  return {
    prepare: () => store.prepare(),
    write: (key, writing) => store.write(key, writing),
    read: (key, range) => store.read(key, range),
    remove: (key) => store.remove(key),
    close: () => undefined,
  };
}

function stoppedSoon(): AbortSignal {
  const stop = new AbortController();
  setTimeout(() => {
    stop.abort(new Error('no longer'));
  }, 30);
  return stop.signal;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heldBytes(): number {
  collectGarbage();
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
    const { id, accountId } = await files.save(newFile(of(bytes)));
    const file = await files.kept(accountId, id);
    expect(file).toMatchObject({ contentType: 'video/mp4', sizeBytes: 300_000 });
    expect((await bytesOf(await file.open())).equals(bytes)).toBe(true);
    const part = await bytesOf(await file.open({ first: 10, last: 19 }));
    expect(part.equals(bytes.subarray(10, 20))).toBe(true);
  });

  it('finds a file only for its account', async () => {
    const { id } = await files.save(newFile(of(randomBytes(10))));
    expect(await files.find(randomUUID(), id)).toBeUndefined();
  });

  it('answers 410 content_expired from the fourteenth day on, swept or not', async () => {
    const { id, accountId } = await files.save(newFile(of(randomBytes(10))));
    clock.ms += 14 * DAY_MS - 1;
    expect(await files.find(accountId, id)).toBeDefined();
    clock.ms += 1;
    const gone = { code: 'content_expired', status: 410 };
    await expect(files.kept(accountId, id)).rejects.toMatchObject(gone);
    clock.ms += DAY_MS;
    await sweeper.sweep();
    await expect(files.kept(accountId, id)).rejects.toMatchObject(gone);
    await expectNothingLeft();
  });

  it.each([
    ['breaks off', () => newFile(broken()), 'the source broke off'],
    ['is too large', () => newFile(of(randomBytes(20)), { maxBytes: 19 }), /larger than 19 bytes/],
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
    await expect(files.save(file())).rejects.toThrow(message);
    await expectNothingLeft();
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
    const saving = files.save(newFile(body));
    destroy(body);
    await expect(saving).rejects.toThrow('broken');
    await expectNothingLeft();
  });

  it('takes exactly as many bytes as it may', async () => {
    const { sizeBytes } = await files.save(newFile(of(randomBytes(20)), { maxBytes: 20 }));
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
    use({ ...localStore(), write });
    const body = Readable.from([randomBytes(10), randomBytes(10)]);
    const saving = files.save(newFile(body));
    const unavailable = { code: 'service_unavailable', retryAfterSeconds: 30 };
    await expect(saving).rejects.toMatchObject(unavailable);
    expect(body.destroyed).toBe(true);
    await expectNothingLeft();
  });

  it('takes and gives a large file in little memory (CONTENT-11)', async () => {
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
    const file = await files.save(newFile(source, { maxBytes: size }));
    let read = 0;
    for await (const chunk of await file.open()) {
      look(read);
      read += (chunk as Buffer).length;
    }
    expect(read).toBe(size);
    expect(most - start).toBeLessThan(size / 4);
  });

  it('answers 503 service_unavailable where bytes are lost', async () => {
    const file = await files.save(newFile(of(randomBytes(10))));
    await rm(join(folder, file.accountId, file.id));
    await expect(file.open()).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  it('removes a file at once for readers, and leaves a store that fails to the sweeper', async () => {
    const { accountId, id } = await files.save(newFile(of(randomBytes(10))));
    use({ ...localStore(), remove: () => Promise.reject(new Error('away')) });
    await files.remove(accountId, id);
    expect(await files.find(accountId, id)).toBeUndefined();
    use(new LocalFileStore(folder));
    clock.ms += HOUR_MS;
    expect(await sweeper.sweep()).toBe(1);
    await expectNothingLeft();
  });
});
