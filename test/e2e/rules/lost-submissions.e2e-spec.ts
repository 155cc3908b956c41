import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  CREDIT_FOR_LOST,
  LOOK_UPS,
  LOST_FILM,
  LostJobs,
  PRICE_OF_LOST,
} from '../../support/lost-jobs.js';

const { ANOTHER, BROKEN, FOUND, NONE } = LOOK_UPS;
let vendor: LostJobs;

beforeAll(async () => {
  vendor = await LostJobs.start();
});
beforeEach(() => {
  vendor.reset();
});
afterAll(() => vendor.stop());

describe('a submission whose answer was lost, at a vendor that knows our reference', () => {
  it('is found, made and charged once', async () => {
    vendor.lookUps = [BROKEN, NONE, FOUND];
    const { videos, id, money } = await vendor.submitted();
    expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
    expect((await videos.get(`videos/${id}/content`)).bytes).toEqual(LOST_FILM);
    expect(await money()).toMatchObject({ available: CREDIT_FOR_LOST - PRICE_OF_LOST, held: 0n });
    expect([vendor.references.length, vendor.asked]).toEqual([1, 3]);
    await vendor.gateway.expectCleanBooks();
  });

  it.each([
    ['says each time that it has no such job', NONE, 'no_such_job'],
    [
      'says that with a status of its own fault',
      [503, { code: 'no_such_job' }] as const,
      undefined,
    ],
    ['gives the job of another reference', ANOTHER, undefined],
  ])('keeps its hold where the vendor %s, and is never sent again', async (_what, answer, code) => {
    vendor.lookUps = [answer];
    const { videos, id, money } = await vendor.submitted();
    await videos.unknown(id);
    expect(await money()).toMatchObject({
      available: CREDIT_FOR_LOST - PRICE_OF_LOST,
      held: PRICE_OF_LOST,
    });
    expect(vendor.asked).toBeGreaterThanOrEqual(11);
    expect(vendor.references).toHaveLength(1);
    const [task] = await vendor.gateway.dataSource.query<
      { provider_fault: { code: string } | null }[]
    >('SELECT provider_fault FROM task ORDER BY created_at DESC LIMIT 1');
    if (code !== undefined) expect(task?.provider_fault).toMatchObject({ code });
    else expect(task?.provider_fault?.code).not.toBe('no_such_job');
  });

  it('keeps its hold where the vendor does not say', async () => {
    vendor.lookUps = [BROKEN];
    const { videos, id, money } = await vendor.submitted();
    await videos.unknown(id);
    expect(await money()).toMatchObject({
      available: CREDIT_FOR_LOST - PRICE_OF_LOST,
      held: PRICE_OF_LOST,
    });
    expect(vendor.references).toHaveLength(1);
    expect(vendor.asked).toBeGreaterThan(3);
  });
});
