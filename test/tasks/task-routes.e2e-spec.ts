import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN } from '../support/gateway.js';
import { postJson, send } from '../support/http-answer.js';
import type { KeyedVendor, SubmissionReply } from '../support/keyed-vendor.js';
import {
  bareStatus,
  COST_OF_TWO,
  CREDIT_FOR_PAIR,
  KEY_OF_TWO,
  KEYS_OF_ONE,
  PRICE_OF_PAIR,
  VendorPair,
} from '../support/vendor-pair.js';

let pair: VendorPair;
let one: KeyedVendor;
let two: KeyedVendor;

beforeAll(async () => {
  pair = await VendorPair.open();
  ({ one, two } = pair);
});
beforeEach(() => pair.reset());
afterAll(() => pair.close());

interface ShownTask {
  readonly route: { readonly provider: string; readonly upstream_model: string };
  readonly task_status: string;
  readonly cost_microusd: string | null;
  readonly attempts: readonly { readonly provider: string; readonly outcome: string }[];
}
const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
const shown = async (id: string) =>
  (await send(`${pair.gateway.url}/admin/tasks/${id}`, { headers: ADMIN })).json as ShownTask;
const lost: SubmissionReply = (response) => response.destroy();

describe('a task of a model with several routes', () => {
  it.each([
    ['refuses our keys', bareStatus(403)],
    ['is at its rate', bareStatus(429)],
    ['says when it has room again', bareStatus(503, { 'retry-after': '5' })],
  ])('goes to the next route where the first %s, and is recorded there', async (_what, reply) => {
    for (const key of KEYS_OF_ONE) one.replies.set(key, reply);
    const task = await pair.submitted();
    await pair.run();
    await pair.expectMade(task);
    expect([...one.submissions].sort()).toEqual([...KEYS_OF_ONE]);
    expect(two.submissions).toEqual([KEY_OF_TWO]);
    const record = await shown(task.id);
    expect(record).toMatchObject({ route: { provider: 'two', upstream_model: 'm-of-two' } });
    expect(record.cost_microusd).toBe(String(COST_OF_TWO));
    const tried = record.attempts.map(({ provider }) => provider);
    expect(tried.slice(0, 3)).toEqual(['one', 'one', 'two']);
    expect(new Set(tried.slice(3))).toEqual(new Set(['two']));
  });

  it('goes to the next route where the first cannot be reached', async () => {
    const task = await pair.submitted('vid-gone');
    await pair.run();
    await pair.expectMade(task);
    expect(two.submissions).toEqual([KEY_OF_TWO]);
  });

  it.each([
    ['an answer that is lost', lost],
    ['a failure that says nothing', bareStatus(500)],
    ['a gateway between that fails', bareStatus(502)],
  ])('is never sent elsewhere after %s', async (_what, reply) => {
    for (const key of KEYS_OF_ONE) one.replies.set(key, reply);
    const { videos, id } = await pair.submitted();
    await pair.run();
    await videos.unknown(id);
    expect(one.submissions).toHaveLength(1);
    expect(two.asked).toEqual([]);
    expect(await videos.balance()).toMatchObject({ held: PRICE_OF_PAIR });
    expect(await shown(id)).toMatchObject({ route: { provider: 'one' } });
    await postJson(`${pair.gateway.url}/admin/tasks/${id}/resolve`, ADMIN, { outcome: 'failed' });
    expect(await videos.balance()).toMatchObject({ available: CREDIT_FOR_PAIR, held: 0n });
  });

  it.each([
    ['order=route-2', ['two'], []],
    ['exclude=route-1', ['two'], []],
    ['exclude=route-2', [], ['one']],
  ])('takes x-gateway-route: %s', async (route, atTwo, atOne) => {
    const task = await pair.submitted('vid-pair', route);
    await pair.run();
    await pair.expectMade(task);
    expect([two.submissions.length, one.submissions.length]).toEqual([atTwo.length, atOne.length]);
  });

  it('never goes to a route that the caller excludes: it waits, and is made where there is room again', async () => {
    for (const key of KEYS_OF_ONE) one.replies.set(key, bareStatus(429));
    const task = await pair.submitted('vid-pair', 'exclude=route-2');
    await pair.run(2);
    expect(two.asked).toEqual([]);
    expect(await shown(task.id)).toMatchObject({
      task_status: 'queued',
      route: { provider: 'one' },
    });
    one.clear();
    await pair.run();
    await pair.expectMade(task);
  });

  it('waits where one route has no room and the other refuses our key, and begins at the first one again', async () => {
    for (const key of KEYS_OF_ONE) one.replies.set(key, bareStatus(429));
    two.replies.set(KEY_OF_TWO, bareStatus(401));
    const task = await pair.submitted();
    await pair.run(1);
    expect(await shown(task.id)).toMatchObject({ task_status: 'queued' });
    one.clear();
    await pair.run();
    await pair.expectMade(task);
    expect(await shown(task.id)).toMatchObject({ route: { provider: 'one' }, cost_microusd: null });
  });

  it('fails without a charge where every route refuses our key', async () => {
    for (const key of KEYS_OF_ONE) one.replies.set(key, bareStatus(401));
    two.replies.set(KEY_OF_TWO, bareStatus(402));
    const { videos, id } = await pair.submitted();
    await pair.run();
    expect(await videos.read(id)).toMatchObject({ status: 'failed' });
    expect(await videos.balance()).toMatchObject({ available: CREDIT_FOR_PAIR, held: 0n });
  });
});
