import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { SecretBox } from '../common/secrets/secret-box.js';
import { ResponseStore } from './response-store.js';
import { ResponseSweeper } from './response-sweeper.js';
import { StoredContent } from './stored-content.js';

const BOX = new SecretBox(['k'.repeat(40)]);
const MANY = 104_857_600;

let database: TestDatabase;
let db: DataSource;
beforeAll(async () => {
  database = await createTestDatabase();
  db = database.dataSource;
});
beforeEach(() => db.query('TRUNCATE stored_response, stored_item, stored_content'));
afterAll(() => database.drop());

const storeOf = (limits: { days?: number; bytes?: number } = {}, box = BOX) =>
  new ResponseStore(db, new StoredContent(box), {
    responsesRetentionDays: limits.days ?? 30,
    responsesMaxBytesPerAccount: limits.bytes ?? MANY,
  });
const sweeperOf = (responsesMaxBytes: number) =>
  new ResponseSweeper(db, undefined as never, { responsesMaxBytes });

const uuid = (digit: number) => `0190a6a0-0000-7000-8000-${digit.toString(16).padStart(12, '0')}`;
const item = (id: string, text = 'hello') => ({ id, item: { type: 'message', text } });
const response = (id: string, items: readonly { id: string; item: object }[], outputItems = 0) => ({
  id,
  response: { object: 'response' },
  items: items as ReturnType<typeof item>[],
  outputItems,
});

/** The sums of the tables against the counter of the account. */
async function sums(accountId: string) {
  const [row] = await db.query<{ counted: string; bytes: string }[]>(
    `SELECT (SELECT bytes FROM stored_content WHERE account_id = $1) AS counted,
            (SELECT coalesce(sum(bytes), 0) FROM stored_response WHERE account_id = $1)
          + (SELECT coalesce(sum(bytes), 0) FROM stored_item WHERE account_id = $1) AS bytes`,
    [accountId],
  );
  return row;
}

describe('stored responses', () => {
  it('are read with their items in order, by their account only (G-108)', async () => {
    const [account, other, id] = [randomUUID(), randomUUID(), randomUUID()];
    const [a, b] = [item(randomUUID(), 'a'), item(randomUUID(), 'b')];
    expect(await storeOf().store(account, response(id, [b, a, b], 1))).toBe(true);
    expect(await storeOf().response(account, id)).toEqual({
      id,
      response: { object: 'response' },
      itemIds: [b.id, a.id, b.id],
      outputItems: 1,
    });
    const { items, named } = await storeOf().conversation(account, id, []);
    expect(items?.map(({ item: { text } }) => text)).toEqual(['b', 'a', 'b']);
    expect(named.get(a.id)?.item).toEqual(a.item);
    expect(await storeOf().response(other, id)).toBeUndefined();
    expect(await storeOf().conversation(other, id, [a.id])).toEqual({
      items: undefined,
      named: new Map(),
    });
  });

  it('are not read where a request names more bytes than a body may have, repeats included (G-108)', async () => {
    const account = randomUUID();
    const large = item(randomUUID(), 'x'.repeat(2 * 1024 * 1024));
    await storeOf().store(account, response(randomUUID(), [large]));
    const named = (times: number) => Array.from({ length: times }, () => large.id);
    const { named: found } = await storeOf().conversation(account, undefined, named(3));
    expect(found.get(large.id)?.item).toEqual(large.item);
    await expect(storeOf().conversation(account, undefined, named(10_000))).rejects.toMatchObject({
      status: 413,
      code: 'request_too_large',
      param: 'input',
    });
  });

  it('are sealed: the tables have none of their words (G-108)', async () => {
    const account = randomUUID();
    await storeOf().store(account, response(randomUUID(), [item(randomUUID(), 'a secret word')]));
    const rows = await db.query('SELECT * FROM stored_item, stored_response');
    expect(JSON.stringify(rows)).not.toContain('secret word');
  });

  it('have items that are stored once, however many responses list them (G-108)', async () => {
    const account = randomUUID();
    const first = item(randomUUID());
    await storeOf().store(account, response(uuid(1), [first]));
    const { items: known = [] } = await storeOf().conversation(account, uuid(1), []);
    await storeOf().store(account, response(uuid(2), [...known, item(randomUUID())]));
    await storeOf().store(account, response(uuid(3), [first, item(randomUUID())]));
    const rows = await db.query('SELECT lists FROM stored_item ORDER BY lists');
    expect(rows).toEqual([{ lists: 1 }, { lists: 1 }, { lists: 3 }]);
  });

  it('are not stored if an item of theirs was forgotten meanwhile', async () => {
    const account = randomUUID();
    await storeOf().store(account, response(uuid(1), [item(randomUUID())]));
    const { items: known = [] } = await storeOf().conversation(account, uuid(1), []);
    await storeOf().forget(account, uuid(1));
    expect(await storeOf().store(account, response(uuid(2), known))).toBe(false);
    expect(await sums(account)).toEqual({ counted: '0', bytes: '0' });
  });

  it('of more than 4 MB are not stored (G-108)', async () => {
    const large = item(randomUUID(), 'x'.repeat(3 * 1024 * 1024));
    const account = randomUUID();
    expect(await storeOf().store(account, response(uuid(1), [large]))).toBe(false);
    expect(await db.query('SELECT FROM stored_item')).toEqual([]);
  });

  it('push out the oldest ones of their account beyond its bytes (G-108)', async () => {
    const account = randomUUID();
    const store = storeOf({ bytes: 3_000 });
    for (const at of [1, 2, 3]) {
      await store.store(account, response(uuid(at), [item(uuid(100 + at), 'y'.repeat(900))]));
    }
    expect(await store.response(account, uuid(1))).toBeUndefined();
    expect(await store.items(account, [uuid(101)])).toEqual(new Map());
    expect(await store.response(account, uuid(3))).toBeDefined();
    expect(Number((await sums(account))?.counted)).toBeLessThanOrEqual(3_000);
  });

  it('push out the oldest ones of all accounts beyond the bytes of all (G-108)', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    await storeOf().store(two, response(uuid(1), [item(randomUUID(), 'z'.repeat(900))]));
    await storeOf().store(one, response(uuid(2), [item(randomUUID(), 'z'.repeat(900))]));
    expect(await sweeperOf(MANY).sweep()).toBe(0);
    expect(await sweeperOf(2_000).sweep()).toBe(1);
    expect(await storeOf().response(two, uuid(1))).toBeUndefined();
    expect(await storeOf().response(one, uuid(2))).toBeDefined();
  });

  it('expire for readers at once, and their bytes with the next sweep (G-108)', async () => {
    const account = randomUUID();
    const kept = item(randomUUID());
    await storeOf({ days: 1 }).store(account, response(uuid(1), [kept, item(uuid(9))]));
    await storeOf({ days: 2 }).store(account, response(uuid(2), [kept]));
    await db.query(
      `UPDATE stored_response SET expires_at = expires_at - interval '25 hours';
       UPDATE stored_item SET listed_until = listed_until - interval '25 hours'`,
    );
    expect(await storeOf().response(account, uuid(1))).toBeUndefined();
    expect([...(await storeOf().items(account, [kept.id, uuid(9)])).keys()]).toEqual([kept.id]);
    expect(await sweeperOf(MANY).sweep()).toBe(1);
    expect(await db.query('SELECT id FROM stored_item')).toEqual([{ id: kept.id }]);
  });

  it('that no key opens are unknown', async () => {
    const account = randomUUID();
    await storeOf().store(account, response(uuid(1), [item(uuid(9))]));
    const stranger = storeOf({}, new SecretBox(['s'.repeat(40)]));
    expect(await stranger.response(account, uuid(1))).toBeUndefined();
    expect((await stranger.conversation(account, uuid(1), [])).items).toBeUndefined();
  });

  it('of an account are erased at once, and no others (G-108)', async () => {
    const [account, other] = [randomUUID(), randomUUID()];
    await storeOf().store(account, response(uuid(1), [item(randomUUID())]));
    await storeOf().store(other, response(uuid(2), [item(randomUUID())]));
    expect(await storeOf().erase(account)).toBe(1);
    expect(await db.query('SELECT account_id FROM stored_item')).toEqual([{ account_id: other }]);
    expect(await sums(account)).toEqual({ counted: '0', bytes: '0' });
  });
});

/** What may happen to the responses of one account; items are named by small numbers. */
const act = fc.oneof(
  fc.record({ store: fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 6 }) }),
  fc.record({ forget: fc.nat({ max: 9 }) }),
);

describe('the items of any history', () => {
  it('are those that some response lists, and the counter is their sum', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 14 }), async (acts) => {
        const account = randomUUID();
        const listed = new Map<string, number[]>();
        let last = 0;
        for (const one of acts) {
          if ('store' in one) {
            last += 1;
            await storeOf().store(
              account,
              response(
                uuid(last),
                one.store.map((name) => item(uuid(1_000 + name), `${name}`)),
              ),
            );
            listed.set(uuid(last), one.store);
          } else {
            const isThere = listed.delete(uuid(one.forget));
            expect(await storeOf().forget(account, uuid(one.forget))).toBe(isThere);
          }
        }
        const rows = await db.query<{ id: string; lists: number }[]>(
          'SELECT id, lists FROM stored_item WHERE account_id = $1 ORDER BY id',
          [account],
        );
        const lists = [...listed.values()].map((names) => [...new Set(names)]).flat();
        const expected = [...new Set(lists)].sort().map((name) => ({
          id: uuid(1_000 + name),
          lists: lists.filter((other) => other === name).length,
        }));
        expect(rows).toEqual(expected);
        const { counted, bytes } = (await sums(account)) ?? {};
        expect(counted ?? '0').toBe(bytes);
      }),
      { numRuns: 60 },
    );
  });

  it('stay exact under concurrent stores, deletions and sweeps', async () => {
    const account = randomUUID();
    const store = storeOf({ bytes: 6_000 });
    const work = Array.from({ length: 60 }, (_, at) =>
      at % 5 === 4
        ? store.forget(account, uuid(at - 2))
        : store.store(
            account,
            response(uuid(at), [item(uuid(1_000 + (at % 7))), item(uuid(2_000 + at))]),
          ),
    );
    await Promise.all([...work, sweeperOf(4_000).sweep(), sweeperOf(4_000).sweep()]);
    const { counted, bytes } = (await sums(account)) ?? {};
    expect(counted).toBe(bytes);
    const stray = await db.query(
      `SELECT id FROM stored_item i WHERE lists <> (
         SELECT count(*) FROM stored_response r WHERE r.account_id = i.account_id AND i.id = ANY (r.items))`,
    );
    expect(stray).toEqual([]);
  });
});
