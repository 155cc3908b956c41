import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { KeyedVendor } from '../support/keyed-vendor.js';
import { bareStatus, KEYS_OF_ONE, VendorPair } from '../support/vendor-pair.js';

let pair: VendorPair;
let one: KeyedVendor;
let two: KeyedVendor;

beforeAll(async () => {
  pair = await VendorPair.open();
  ({ one, two } = pair);
});
beforeEach(() => pair.reset());
afterAll(() => pair.close());

describe('a task at a provider with several keys', () => {
  it.each([
    ['has no balance', bareStatus(402)],
    ['is revoked', bareStatus(401)],
    ['is at its rate', bareStatus(429, { 'retry-after': '30' })],
  ])('is made with the next key where one %s, and asked about with that', async (_what, reply) => {
    const [refused, accepted] = KEYS_OF_ONE;
    one.replies.set(refused, reply);
    const all = await Promise.all(Array.from({ length: 6 }, () => pair.submitted()));
    await pair.run();
    for (const task of all) await pair.expectMade(task);
    expect(two.asked).toEqual([]);
    const read = one.asked.filter((line) => !line.startsWith('POST'));
    expect(new Set(read)).toEqual(new Set([`GET ${accepted}`, `DELETE ${accepted}`]));
    expect(one.submissions.filter((key) => key === accepted)).toHaveLength(6);
  });

  it('is asked about with the key of its submission by a process that starts later, whatever the order of keys', async () => {
    one.replies.set(KEYS_OF_ONE[0], bareStatus(402));
    const task = await pair.submitted();
    await pair.run(1);
    one.clear();
    const later = await pair.later('new-key', ...KEYS_OF_ONE);
    await pair.run(undefined, later);
    await later.stop();
    await pair.expectMade(task);
    expect(new Set(one.asked)).toEqual(
      new Set([`GET ${KEYS_OF_ONE[1]}`, `DELETE ${KEYS_OF_ONE[1]}`]),
    );
  });

  it('waits while the key of its submission is gone, and no other key is asked', async () => {
    one.replies.set(KEYS_OF_ONE[0], bareStatus(402));
    const task = await pair.submitted();
    await pair.run(1);
    one.clear();
    await pair.keysOfOne(KEYS_OF_ONE[0], 'another-key');
    await pair.run();
    expect(one.asked).toEqual([]);
    expect(await task.videos.read(task.id)).toMatchObject({ status: 'in_progress' });
    await pair.keysOfOne('another-key', KEYS_OF_ONE[1]);
    await pair.run();
    await pair.expectMade(task);
  });
});

describe('a task that is bound to a key', () => {
  const upstreamOf = async (id: string): Promise<string> => {
    const sql = 'SELECT provider_base_url AS url FROM task WHERE id = $1::uuid';
    const [row] = await pair.gateway.dataSource.query<{ url: string }[]>(sql, [id.slice(5)]);
    return row?.url ?? '';
  };

  it('stays with it where that is at its rate, because the account of the key has the source', async () => {
    const [other, own] = KEYS_OF_ONE;
    one.replies.set(other, bareStatus(402));
    const source = await pair.submitted();
    await pair.run();
    const upstream = await upstreamOf(source.id);
    const task = await pair.submitted();
    await pair.gateway.dataSource.query(
      'UPDATE task SET provider_base_url = $2 WHERE id = $1::uuid',
      [task.id.slice(5), upstream],
    );
    one.clear();
    one.replies.set(own, bareStatus(429));
    await pair.run(2);
    expect(await upstreamOf(task.id)).toBe(upstream);
    one.replies.clear();
    await pair.run();
    await pair.expectMade(task);
    expect([new Set(one.submissions), two.asked]).toEqual([new Set([own]), []]);
  });

  it('is so after an overload that says nothing, because the work may have begun there', async () => {
    for (const key of KEYS_OF_ONE) one.replies.set(key, bareStatus(503));
    const task = await pair.submitted();
    await pair.run(3);
    expect([one.submissions.length, new Set(one.submissions).size, two.asked]).toEqual([3, 1, []]);
    one.replies.clear();
    await pair.run();
    await pair.expectMade(task);
    expect(new Set(one.submissions).size).toBe(1);
  });
});
