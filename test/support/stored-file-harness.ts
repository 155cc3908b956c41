import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Clock } from '../../src/common/time/clock.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import type { FileStore } from '../../src/platform/storage/file-store.port.js';
import { LocalFileStore } from '../../src/platform/storage/local-file-store.js';
import { StoredFileSweeper } from '../../src/platform/storage/stored-file-sweeper.js';
import type { NewFile } from '../../src/platform/storage/stored-file.js';
import { StoredFiles } from '../../src/platform/storage/stored-files.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { IDLE_TICKER } from './test-ledger.js';
import { DAY_MS } from '../../src/common/time/spans.js';

/** The time at which every harness starts. */
export const START_MS = 1_900_000_000_000;

class HandClock extends Clock {
  ms = START_MS;
  nowMs(): number {
    return this.ms;
  }
}

/** Stored files and their sweeper on a database, a folder and a clock of their own. */
export class StoredFileHarness {
  folder = '';
  clock!: HandClock;
  private metrics!: Metrics;
  files!: StoredFiles;
  sweeper!: StoredFileSweeper;

  private constructor(readonly database: TestDatabase) {}

  /** Starts one; call {@link reset} before each test, {@link clear} after it, and drop the database at the end. */
  static async start(): Promise<StoredFileHarness> {
    return new StoredFileHarness(await createTestDatabase());
  }

  async reset(): Promise<void> {
    await this.database.dataSource.query('DELETE FROM stored_file');
    this.folder = await mkdtemp(join(tmpdir(), 'shim-files-'));
    this.use(new LocalFileStore(this.folder));
  }

  /** How many errors of the store were counted since the last {@link use}, by operation. */
  async storageErrors(): Promise<Record<string, number>> {
    const { values } = await this.metrics.storageErrors.get();
    return Object.fromEntries(values.map(({ labels, value }) => [String(labels.operation), value]));
  }

  clear(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }

  /** Replaces the store; the clock starts anew. */
  use(store: FileStore): void {
    this.clock = new HandClock();
    this.metrics = new Metrics();
    this.files = new StoredFiles(store, this.database.dataSource, this.clock, this.metrics);
    const { dataSource } = this.database;
    this.sweeper = new StoredFileSweeper(this.files, dataSource, this.clock, IDLE_TICKER);
  }

  /** The store of the folder, whose methods a test may replace. */
  localStore(): FileStore {
    const store = new LocalFileStore(this.folder);
    return {
      readers: store.readers,
      mayFinishLate: store.mayFinishLate,
      prepare: () => store.prepare(),
      write: (key, writing) => store.write(key, writing),
      read: (key, range) => store.read(key, range),
      remove: (key) => store.remove(key),
      close: () => undefined,
    };
  }

  /** Proves that neither the table nor the directory has a file. */
  async expectNothingLeft(): Promise<void> {
    expect(await this.database.dataSource.query('SELECT id FROM stored_file')).toEqual([]);
    const entries = await readdir(this.folder, { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isFile())).toEqual([]);
  }
}

/** A file to keep, of a new account. */
export function newFile(body: Readable, more: Partial<NewFile> = {}): NewFile {
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

/** A body of these bytes. */
export const of = (bytes: Buffer): Readable => Readable.from([bytes]);
