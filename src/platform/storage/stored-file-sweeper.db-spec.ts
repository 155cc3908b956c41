import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { PassThrough, Readable } from 'node:stream';
import {
  newFile,
  of,
  START_MS,
  StoredFileHarness,
} from '../../../test/support/stored-file-harness.js';
import { DAY_MS, HOUR_MS } from '../../common/time/spans.js';

let harness: StoredFileHarness;

beforeAll(async () => {
  harness = await StoredFileHarness.start();
});
afterAll(() => harness.database.drop());
beforeEach(() => harness.reset());
afterEach(() => harness.clear());

const bytesOf = async (body: Readable): Promise<Buffer> =>
  Buffer.concat((await body.toArray()) as Buffer[]);

describe('StoredFileSweeper', () => {
  it('keeps files that have not expired or are being written', async () => {
    const file = await harness.files.save(newFile(of(randomBytes(10))));
    const source = new PassThrough();
    const saving = harness.files.save(newFile(source));
    expect(await harness.sweeper.sweep()).toBe(0);
    source.end('all');
    expect(await harness.files.find((await saving).accountId, (await saving).id)).toBeDefined();
    expect(await harness.files.find(file.accountId, file.id)).toBeDefined();
  });

  it('lets downloads that began in time end before it removes the bytes', async () => {
    const file = await harness.files.save(newFile(of(randomBytes(10))));
    harness.clock.ms += 14 * DAY_MS + HOUR_MS - 1;
    expect(await harness.sweeper.sweep()).toBe(0);
    expect(await bytesOf(await file.open())).toHaveLength(10);
    harness.clock.ms += 1;
    expect(await harness.sweeper.sweep()).toBe(1);
    await harness.expectNothingLeft();
  });

  it('removes the files of a dead process, the unfinished one included', async () => {
    const source = new PassThrough();
    const saving = harness.files.save(newFile(source));
    source.write('half');
    while (
      (await readdir(harness.folder, { recursive: true })).every((name) => !name.endsWith('.part'))
    ) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    harness.clock.ms += HOUR_MS;
    expect(await harness.sweeper.sweep()).toBe(1);
    await harness.expectNothingLeft();
    source.end();
    await expect(saving).rejects.toMatchObject({ code: 'service_unavailable' });
    await harness.expectNothingLeft();
  });

  it('removes thousands of files in one sweep, even if one removal fails', async () => {
    const accountId = randomUUID();
    await harness.database.dataSource.query(
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
    harness.use({ ...harness.localStore(), remove: stubborn });
    harness.clock.ms += HOUR_MS;
    expect(await harness.sweeper.sweep()).toBe(1233);
    expect(await harness.sweeper.sweep()).toBe(1);
  });

  it('starts no further removal when the gateway stops, however slow the store is', async () => {
    for (let n = 0; n < 3; n++) await harness.files.save(newFile(of(randomBytes(10))));
    const stopping = new AbortController();
    let removals = 0;
    const slow = (): Promise<void> => {
      removals += 1;
      stopping.abort();
      return Promise.resolve();
    };
    harness.use({ ...harness.localStore(), remove: slow });
    harness.clock.ms += 15 * DAY_MS;
    await harness.sweeper.sweep(stopping.signal);
    expect(removals).toBe(1);
  });
});
