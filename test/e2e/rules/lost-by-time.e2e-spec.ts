import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { auditLedger } from '../../../src/billing/audit/audit.js';
import { ADMIN_TOKEN } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { MADE_VIDEO } from '../../support/keyed-vendor.js';
import {
  CREDIT_OF_LISTED as CREDIT,
  ListedJobs,
  PRICE_OF_LISTED as PRICE,
} from '../../support/listed-jobs.js';
import { until } from '../../support/until.js';

const CHARGED = { available: CREDIT - PRICE, held: 0n };
const HELD = { available: CREDIT - PRICE, held: PRICE };
const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

let replicate: ListedJobs;
beforeAll(async () => {
  replicate = await ListedJobs.start();
});
beforeEach(() => {
  replicate.isListed = true;
});
afterAll(async () => {
  const books = await auditLedger(replicate.gateway.dataSource);
  await replicate.stop();
  expect(books).toMatchObject({ ok: true, discrepancies: [] });
});

const shown = async (id: string) => {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  return (await send(`${replicate.gateway.url}/admin/tasks/${id}`, { headers })).json;
};
/** An operator decides that it failed. */
const decided = async (id: string): Promise<void> => {
  const url = `${replicate.gateway.url}/admin/tasks/${id}/resolve`;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  expect(await postJson(url, headers, { outcome: 'failed' })).toMatchObject({ status: 200 });
};
const timesSent = (prompt: string): number => replicate.timesSent(prompt);

describe('a submission whose answer was lost, at a vendor that lists its jobs', () => {
  it('is found by its time and fields, made and charged once, and operators see how (G-118)', async () => {
    const { videos, id } = await replicate.submitted('The sea');
    expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
    expect((await videos.content(id)).bytes).toEqual(MADE_VIDEO);
    expect(await videos.balance()).toMatchObject(CHARGED);
    expect([timesSent('The sea'), replicate.madeOf('The sea')]).toEqual([1, 1]);
    expect(await shown(id)).toMatchObject({
      provider_evidence: { status: 'found_by_time', asked: 'time' },
      attempts: expect.arrayContaining([
        expect.objectContaining({ step: 'submit', outcome: 'http_error' }),
        expect.objectContaining({ step: 'look_up', outcome: 'success' }),
      ]),
    });
  });

  it('is found late, delivered and charged once', async () => {
    replicate.isListed = false;
    const { videos, id } = await replicate.submitted('A late sea');
    await videos.unknown(id);
    expect(await videos.balance()).toMatchObject(HELD);
    replicate.isListed = true;
    expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
    expect(await videos.balance()).toMatchObject(CHARGED);
    expect(timesSent('A late sea')).toBe(1);
  });

  it('keeps its hold, and is sent once, where no job or more than one can be its own', async () => {
    const cases = {
      'that was never made': { made: 0 },
      'made twice': { made: 2 },
      'made too early': { told: { created_at: ago(5) } },
      'made too late': { told: { created_at: ago(-10) } },
      'whose input is gone': {
        told: { input: { prompt: 'whose input is gone', seed: 1, duration: 6 } },
      },
      'of another model': { told: { model: 'acme/other' } },
      'made in another account': { isElsewhere: true },
      'without an id': { told: { id: null } },
    };
    const ends = Object.entries(cases).map(async ([prompt, plan]) => {
      const { videos, id } = await replicate.submitted(prompt, plan);
      await videos.unknown(id);
      return [prompt, await videos.balance(), timesSent(prompt)];
    });
    expect(await Promise.all(ends)).toEqual(
      Object.keys(cases).map((prompt) => [prompt, expect.objectContaining(HELD), 1]),
    );
  });

  it('never takes the job of another task', async () => {
    const prompt = 'The same sea';
    const { videos, id: other } = await replicate.submitted(prompt, { isAnswered: true });
    expect(await videos.ended(other)).toMatchObject({ status: 'completed' });
    const { id } = await replicate.submitted(prompt, { most: 1 }, videos);
    await videos.unknown(id);
    expect(await videos.balance()).toMatchObject({ available: CREDIT - 2n * PRICE, held: PRICE });
    expect([timesSent(prompt), replicate.madeOf(prompt)]).toEqual([2, 1]);
  });

  it('takes a job that two of them may have for one alone', async () => {
    const prompt = 'The sea of two';
    replicate.isListed = false;
    const { videos, id: first } = await replicate.submitted(prompt, { most: 1 });
    const { id: second } = await replicate.submitted(prompt, { most: 1 }, videos);
    await Promise.all([videos.unknown(first), videos.unknown(second)]);
    replicate.isListed = true;
    const ends = [first, second].map(async (id) => {
      await videos.ended(id);
      return id;
    });
    const winner = await Promise.race(ends);
    const asked = replicate.listed;
    await until(() => replicate.listed > asked + 3);
    const loser = winner === first ? second : first;
    expect(await videos.read(loser)).toMatchObject({ status: 'in_progress' });
    expect(await videos.balance()).toMatchObject({ available: CREDIT - 2n * PRICE, held: PRICE });
    expect([timesSent(prompt), replicate.madeOf(prompt)]).toEqual([2, 1]);
    await decided(loser);
    await Promise.all(ends);
    expect(await videos.balance()).toMatchObject({ available: CREDIT - PRICE, held: 0n });
  });
});

describe('a submission that a proxy put off, at a vendor that lists its jobs', () => {
  it('fails, free and without a look-up, where its repeat is refused (G-117)', async () => {
    const refusals = [
      [503, '<html>503</html>'],
      [422, JSON.stringify({ title: 'Input validation failed', status: 422 })],
    ] as const;
    const prompt = 'A sea that is refused';
    const { videos, id } = await replicate.submitted(prompt, { refusals });
    expect(await videos.ended(id)).toMatchObject({ status: 'failed' });
    expect(await videos.balance()).toMatchObject({ available: CREDIT, held: 0n });
    const { attempts } = (await shown(id)) as { readonly attempts: unknown };
    expect([timesSent(prompt), attempts]).toEqual([
      2,
      [
        expect.objectContaining({ step: 'submit', status: 503 }),
        expect.objectContaining({ step: 'submit', status: 422 }),
      ],
    ]);
  });
});
