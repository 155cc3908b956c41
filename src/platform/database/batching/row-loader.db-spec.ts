import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { type OwnedRow, RowLoader } from './row-loader.js';

const FILES = 300;
const MOST_WAITING = 10_000;
const account = randomUUID();
const ids = Array.from({ length: FILES }, () => randomUUID());

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.dataSource.query(
    `INSERT INTO stored_file (account_id, id, owner_id, content_type, created_at, expires_at)
     SELECT $1, id, id, 'video/mp4', now(), now() FROM unnest($2::uuid[]) id`,
    [account, ids],
  );
});
afterAll(() => database.drop());

/** The database, whose statements are counted. */
function watched(): { lookup: RowLoader<OwnedRow>; sizes: number[]; atOnce: () => number } {
  const sizes: number[] = [];
  let underWay = 0;
  let most = 0;
  const query = async (text: string, values: [string[], string[]]): Promise<unknown> => {
    sizes.push(values[1].length);
    underWay += 1;
    most = Math.max(most, underWay);
    try {
      return await database.dataSource.query(text, values);
    } finally {
      underWay -= 1;
    }
  };
  const lookup = new RowLoader<OwnedRow>({ query } as unknown as DataSource, 'stored_file');
  return { lookup, sizes, atOnce: () => most };
}

describe('RowLoader', () => {
  it('answers each of a crowd with its own row, over two connections', async () => {
    const { lookup, sizes, atOnce } = watched();
    const asked = [...ids, ...ids, randomUUID()];
    const rows = await Promise.all(asked.map((id) => lookup.find(account, id)));
    expect(rows.map((row) => row?.id)).toEqual([...ids, ...ids, undefined]);
    expect(atOnce()).toBe(2);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(128);
  });

  it('does not find the row of another account', async () => {
    const { lookup } = watched();
    const [mine, foreign] = await Promise.all([
      lookup.find(account, ids[0] ?? ''),
      lookup.find(randomUUID(), ids[0] ?? ''),
    ]);
    expect([mine?.id, foreign]).toEqual([ids[0], undefined]);
  });

  it('fails alone where the database refuses it', async () => {
    const { lookup } = watched();
    const asked = [ids[0] ?? '', ids[1] ?? '', 'no id', ids[2] ?? ''];
    const outcomes = await Promise.allSettled(asked.map((id) => lookup.find(account, id)));
    expect(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value?.id : 'refused')),
    ).toEqual([ids[0], ids[1], 'refused', ids[2]]);
  });

  it('tells everyone who shared a statement that it failed, and asks again for the next', async () => {
    let isDown = true;
    const query = (text: string, values: unknown[]): Promise<unknown> =>
      isDown ? Promise.reject(new Error('down')) : database.dataSource.query(text, values);
    const lookup = new RowLoader<OwnedRow>({ query } as unknown as DataSource, 'stored_file');
    const crowd = await Promise.allSettled(ids.slice(0, 5).map((id) => lookup.find(account, id)));
    expect(new Set(crowd.map(({ status }) => status))).toEqual(new Set(['rejected']));
    isDown = false;
    expect((await lookup.find(account, ids[0] ?? ''))?.id).toBe(ids[0]);
  });

  it('refuses with 503 and Retry-After what exceeds its queue', async () => {
    let answer: (rows: unknown[]) => void = () => undefined;
    const answered = new Promise<unknown[]>((resolve) => {
      answer = resolve;
    });
    const query = (): Promise<unknown> => answered;
    const lookup = new RowLoader<OwnedRow>({ query } as unknown as DataSource, 'task');
    // Two leave at once, the others wait.
    const crowd = Array.from({ length: MOST_WAITING + 2 }, () => lookup.find(account, account));
    await expect(lookup.find(account, account)).rejects.toMatchObject({
      code: 'service_unavailable',
      retryAfterSeconds: 1,
    });
    answer([]);
    expect(new Set(await Promise.all(crowd))).toEqual(new Set([undefined]));
  });
});
