import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';
import { LANE_CONCURRENCY, LEASE_MS } from '../../src/tasks/task-lane.js';
import {
  type ClaimedWork,
  type AccountUse,
  TaskWorkRepository,
} from '../../src/tasks/worker/task-work.repository.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { DAY_MS } from '../../src/common/time/spans.js';

const LANE = 'poll/elevenlabs';
const ROOM = LANE_CONCURRENCY.poll;
const LONG_AGO_MS = 365 * DAY_MS;

let database: TestDatabase;
let statements: TaskWorkRepository;
beforeAll(async () => {
  database = await createTestDatabase();
  statements = new TaskWorkRepository(database.dataSource);
});
afterAll(() => database.drop());
beforeEach(() => database.dataSource.query('DELETE FROM task_work; DELETE FROM task'));

/** Tasks of accounts, each with so many that have been due for so many seconds; negative: will be. */
async function fill(accounts: readonly string[], each: number, dueSeconds: number): Promise<void> {
  const ids = accounts.flatMap((account) => Array.from({ length: each }, () => account));
  await database.dataSource.query(
    `WITH made AS (
       INSERT INTO task (account_id, id, kind, modality, model, details, provider, provider_base_url, on_sandbox,
                         upstream_model, reserved, status)
       SELECT account, gen_random_uuid(), 'job', 'audio', 'm', '{}', 'elevenlabs', 'http://x', true, 'm', 1, 'processing'
         FROM unnest($1::uuid[]) account RETURNING account_id, id
     )
     INSERT INTO task_work (account_id, task_id, lane, phase, due_at)
       SELECT account_id, id, $2, 'polling', now() - $3 * interval '1 s' FROM made`,
    [ids, LANE, dueSeconds],
  );
}

const newAccounts = (count: number): string[] =>
  Array.from({ length: count }, () => uuidV7(Math.round(Date.now() - Math.random() * LONG_AGO_MS)));

const countOf = (works: readonly ClaimedWork[], account: string): number =>
  works.filter(({ task }) => task.accountId === account).length;

function claim(room = ROOM, holdings: readonly AccountUse[] = []): Promise<ClaimedWork[]> {
  const rooms = new Map([[LANE, room]]);
  return statements.claim({ available: rooms, inUse: holdings, runningIds: [], leaseMs: LEASE_MS });
}

const has = (accountId: string, places: number): AccountUse => ({
  lane: LANE,
  accountId,
  count: places,
});

describe('a claim', () => {
  it('gives an account that is alone two thirds of the lane, and nothing once it has them', async () => {
    const alone = randomUUID();
    await fill([alone], 2 * ROOM, 60);
    const share = (await claim()).length;
    expect(share).toBe(Math.floor((2 * (ROOM + 1)) / 3));
    expect(await claim(ROOM - share, [has(alone, share)])).toEqual([]);
    // Steps of it end, one after the other.
    expect(await claim(ROOM - share + 1, [has(alone, share - 1)])).toHaveLength(1);
  });

  it('gives two accounts two fifths each, whoever has waited longer', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await fill([first], ROOM / 2, 60);
    await fill([second], ROOM / 2, 30);
    const works = await claim();
    const fifths = Math.floor((2 * (ROOM + 1)) / 5);
    expect([countOf(works, first), countOf(works, second)]).toEqual([fifths, fifths]);
  });

  it('claims all that fits of many accounts, the longest due first', async () => {
    await fill(newAccounts(100), 6, 60);
    const late = randomUUID();
    await fill([late], 1, 1);
    const works = await claim();
    expect(works.length).toBeGreaterThan(ROOM - ROOM / 16);
    expect(countOf(works, late)).toBe(0);
  });

  it.each([1, 2, 12, ROOM])(
    'finds the work of others behind the backlog of an account that has its share, with room for %i',
    async (room) => {
      const greedy = randomUUID();
      const others = newAccounts(3);
      await fill([greedy], 3 * ROOM, 600);
      await fill(others, 1, 1);
      const works = await claim(room, [has(greedy, 2 * room)]);
      expect(countOf(works, greedy)).toBe(0);
      expect(works).toHaveLength(Math.min(room, others.length));
    },
  );

  it('finds it among thousands of accounts whose work is not due, sooner or later', async () => {
    const greedy = randomUUID();
    const [waiting = ''] = newAccounts(1);
    await fill([greedy], 2 * ROOM, 600);
    await fill(newAccounts(3_000), 1, -600);
    await fill([waiting], 1, 1);
    let works: ClaimedWork[] = [];
    while (works.length === 0) works = await claim(ROOM / 2, [has(greedy, ROOM)]);
    expect(works.map(({ task }) => task.accountId)).toEqual([waiting]);
  });

  it('that runs beside others gives each task to one of them', async () => {
    await fill(newAccounts(2), ROOM, 60);
    await fill(newAccounts(20), 5, 1);
    const claims = await Promise.all(Array.from({ length: 6 }, () => claim(ROOM / 4)));
    const ids = claims.flat().map(({ task }) => task.id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
