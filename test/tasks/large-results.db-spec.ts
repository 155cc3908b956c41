import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { MAX_STORED_BYTES } from '../../src/platform/database/keyset-pagination.js';
import { TaskRepository } from '../../src/tasks/reads/task.repository.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const ACCOUNT = '00000000-0000-0000-0000-000000000001';
const TASKS = 7;
/** More than a third of a page. */
const WORDS = Math.ceil(MAX_STORED_BYTES / 3 / 32);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function fill(words: number, text = `md5(n || ' ' || word)`): Promise<void> {
  await database.dataSource.query('TRUNCATE task CASCADE');
  await database.dataSource.query(
    `INSERT INTO task (account_id, id, kind, modality, model, details, provider, provider_base_url, on_sandbox,
                       upstream_model, reserved, status, result, charged, completed_at)
     SELECT $1, ('018bcfe5' || lpad(to_hex(n), 24, '0'))::uuid, 'song', 'audio', 'song-bpm', '{}', 'p', 'http://x', false,
            'm', 1, 'succeeded',
            json_build_object('n', n, 'words', (SELECT string_agg(${text}, '')
                                                  FROM generate_series(1, $2::int) word)), 1, now()
       FROM generate_series(1, ${TASKS}) n`,
    [ACCOUNT, words],
  );
}

/** The numbers of the tasks on each page, to the end of the list. */
async function pages(limit: number): Promise<unknown[][]> {
  const reader = new TaskRepository(database.dataSource);
  const read: unknown[][] = [];
  let cursor: string | undefined;
  do {
    const page = await reader.list({ accountId: ACCOUNT }, { limit, cursor });
    read.push(page.items.map(({ result }) => result?.n));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && read.length <= TASKS);
  return read;
}

it('a page of tasks ends early if results are large, and the next one continues', async () => {
  await fill(WORDS);
  expect(await pages(100)).toEqual([[7, 6, 5], [4, 3, 2], [1]]);
  expect(await pages(2)).toEqual([[7, 6], [5, 4], [3, 2], [1]]);
});

it('a result that could be compressed counts in full', async () => {
  await fill(WORDS, `repeat('la', 16)`);
  expect(await pages(100)).toEqual([[7, 6, 5], [4, 3, 2], [1]]);
});

it('a result that is larger than a page has a page of its own', async () => {
  await fill(WORDS * 4);
  expect(await pages(100)).toEqual([[7], [6], [5], [4], [3], [2], [1]]);
});

it('small results fill their page', async () => {
  await fill(1);
  expect(await pages(100)).toEqual([[7, 6, 5, 4, 3, 2, 1]]);
  expect(await pages(7)).toEqual([[7, 6, 5, 4, 3, 2, 1]]);
  expect(await pages(6)).toEqual([[7, 6, 5, 4, 3, 2], [1]]);
});
