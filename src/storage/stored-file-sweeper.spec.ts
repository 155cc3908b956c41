import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { Clock } from '../common/time/clock.js';
import type { Ticker } from '../ticker/ticker.js';
import type { FileStore } from './file-store.port.js';
import { LocalFileStore } from './local-file-store.js';
import { StoredFileSweeper } from './stored-file-sweeper.js';
import type { NewFile } from './stored-file.js';
import { StoredFiles } from './stored-files.js';

const START_MS = 1_900_000_000_000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

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

describe('StoredFileSweeper', () => {
  it('leaves what is kept and what is being written', async () => {
    const file = await files.save(newFile(of(randomBytes(10))));
    const source = new PassThrough();
    const saving = files.save(newFile(source));
    expect(await sweeper.sweep()).toBe(0);
    source.end('all');
    expect(await files.find((await saving).accountId, (await saving).id)).toBeDefined();
    expect(await files.find(file.accountId, file.id)).toBeDefined();
  });

  it('lets downloads that began in time end before it removes the bytes', async () => {
    const file = await files.save(newFile(of(randomBytes(10))));
    clock.ms += 14 * DAY_MS + HOUR_MS - 1;
    expect(await sweeper.sweep()).toBe(0);
    expect(await bytesOf(await file.open())).toHaveLength(10);
    clock.ms += 1;
    expect(await sweeper.sweep()).toBe(1);
    await expectNothingLeft();
  });

  it('removes what a dead process left, the half-written file included', async () => {
    const source = new PassThrough();
    const saving = files.save(newFile(source));
    source.write('half');
    while ((await readdir(folder, { recursive: true })).every((name) => !name.endsWith('.part'))) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    clock.ms += HOUR_MS;
    expect(await sweeper.sweep()).toBe(1);
    await expectNothingLeft();
    source.end();
    await expect(saving).rejects.toMatchObject({ code: 'service_unavailable' });
    await expectNothingLeft();
  });

  it('removes thousands in one sweep, whatever one of them does', async () => {
    const accountId = randomUUID();
    await database.dataSource.query(
      `INSERT INTO stored_file (account_id, id, owner_id, state, content_type, size_bytes, created_at, expires_at)
       SELECT $1, gen_random_uuid(), gen_random_uuid(), 'stored', 'audio/mpeg', 1, now(), to_timestamp($2) FROM generate_series(1, 1234)`,
      [accountId, START_MS / 1000],
    );
    let isFirst = true;
    const stubborn = (): Promise<void> => {
      const refused = isFirst;
      isFirst = false;
      return refused ? Promise.reject(new Error('busy')) : Promise.resolve();
    };
    use({ ...localStore(), remove: stubborn });
    clock.ms += HOUR_MS;
    expect(await sweeper.sweep()).toBe(1233);
    expect(await sweeper.sweep()).toBe(1);
  });
});
