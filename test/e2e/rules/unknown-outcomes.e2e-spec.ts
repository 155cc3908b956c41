import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { auditLedger } from '../../../src/billing/audit/audit.js';
import { ADMIN_TOKEN } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import {
  CREDIT_FOR_LOST,
  giveLostFilm,
  LOOK_UPS,
  LOST_FILM,
  LostJobs,
  PRICE_OF_LOST,
} from '../../support/lost-jobs.js';
import { until } from '../../support/until.js';

const { BROKEN, FOUND, NONE } = LOOK_UPS;
let vendor: LostJobs;

beforeAll(async () => {
  vendor = await LostJobs.start();
});
beforeEach(() => {
  vendor.reset();
});
afterAll(() => vendor.stop());

describe('a task whose outcome is unknown, at a vendor that knows our reference', () => {
  async function unknown(answer: LostJobs['lookUps'][number]) {
    vendor.lookUps = [answer];
    const task = await vendor.submitted();
    await task.videos.unknown(task.id);
    return task;
  }
  const uuidOf = (id: string) => id.slice('task_'.length);
  const past = (id: string, hours: number) =>
    vendor.gateway.dataSource.query(
      `UPDATE task SET created_at = created_at - make_interval(hours => $2),
              completed_at = completed_at - make_interval(hours => $2) WHERE id = $1::uuid`,
      [uuidOf(id), hours],
    );
  const shown = async (id: string): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const answer = await send(`${vendor.gateway.url}/admin/tasks/${id}`, { headers });
    return answer.json as Record<string, unknown>;
  };
  const workOf = async (id: string) => {
    const rows = await vendor.gateway.dataSource.query<{ phase: string; strikes: number }[]>(
      'SELECT phase, strikes FROM task_work WHERE task_id = $1::uuid',
      [uuidOf(id)],
    );
    return rows[0];
  };
  /** The vendor has been asked so often more. */
  const askedOn = (times: number) => {
    const before = vendor.asked;
    return until(() => vendor.asked >= before + times);
  };

  it('is found late, delivered and charged once', async () => {
    const { videos, id, money } = await unknown(BROKEN);
    await askedOn(2);
    expect(await money()).toMatchObject({
      available: CREDIT_FOR_LOST - PRICE_OF_LOST,
      held: PRICE_OF_LOST,
    });
    vendor.lookUps = [FOUND];
    expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
    expect((await videos.content(id)).bytes).toEqual(LOST_FILM);
    expect(await money()).toMatchObject({ available: CREDIT_FOR_LOST - PRICE_OF_LOST, held: 0n });
    expect([vendor.references.length, vendor.films]).toEqual([1, 1]);
    expect(await shown(id)).toMatchObject({
      ...{ task_status: 'succeeded', provider_job_id: 'job-1' },
      provider_evidence: { status: 'succeeded', asked: 'job', seen_at: expect.any(Number) },
    });
    expect(await workOf(id)).toBeUndefined();
    expect(await auditLedger(vendor.gateway.dataSource)).toMatchObject({
      ok: true,
      discrepancies: [],
    });
  });

  it('is released where the job that is found late has failed', async () => {
    const { videos, id, money } = await unknown(BROKEN);
    vendor.job = { state: 'failed' };
    vendor.lookUps = [FOUND];
    expect(await videos.ended(id)).toMatchObject({ status: 'failed' });
    expect(await money()).toMatchObject({ available: CREDIT_FOR_LOST, held: 0n });
    expect(await shown(id)).toMatchObject({
      provider_evidence: { status: 'failed', asked: 'job' },
    });
    expect([vendor.references.length, vendor.films]).toEqual([1, 0]);
    expect(await auditLedger(vendor.gateway.dataSource)).toMatchObject({
      ok: true,
      discrepancies: [],
    });
  });

  it('keeps its hold where the vendor says for hours that it has no such job, and tells operators', async () => {
    const { id, money } = await unknown(NONE);
    await askedOn(3);
    expect(await money()).toMatchObject({
      available: CREDIT_FOR_LOST - PRICE_OF_LOST,
      held: PRICE_OF_LOST,
    });
    expect(await shown(id)).toMatchObject({
      task_status: 'reconciliation_required',
      provider_evidence: { status: 'absent', asked: 'reference' },
    });
    await past(id, 2);
    await askedOn(1);
    expect(await shown(id)).toMatchObject({
      task_status: 'reconciliation_required',
      provider_error: { code: 'no_such_job' },
    });
    expect(await money()).toMatchObject({ held: PRICE_OF_LOST });
    expect(vendor.references).toHaveLength(1);
  });

  it('keeps its hold where a job that was done is failed later, because it was made', async () => {
    const { id, money } = await unknown(BROKEN);
    vendor.film = (response) => response.writeHead(503).end();
    vendor.lookUps = [FOUND];
    await until(() => vendor.films > 0);
    vendor.job = { state: 'failed' };
    const polled = vendor.polls;
    await until(() => vendor.polls > polled + 1);
    expect(await shown(id)).toMatchObject({
      task_status: 'reconciliation_required',
      provider_evidence: { status: 'succeeded', asked: 'job' },
    });
    expect(await money()).toMatchObject({ held: PRICE_OF_LOST });
  });

  it('keeps its hold where the vendor does not say, and is asked about for seven days', async () => {
    const { id, money } = await unknown(BROKEN);
    await past(id, 2);
    await askedOn(1);
    expect(await workOf(id)).toMatchObject({ phase: 'watching' });
    await past(id, 7 * 24);
    await vendor.gateway.dataSource.query(
      'UPDATE task_work SET due_at = now() WHERE task_id = $1::uuid',
      [uuidOf(id)],
    );
    await until(async () => (await workOf(id)) === undefined);
    expect(await shown(id)).toMatchObject({ task_status: 'reconciliation_required' });
    expect(await money()).toMatchObject({
      available: CREDIT_FOR_LOST - PRICE_OF_LOST,
      held: PRICE_OF_LOST,
    });
    expect(vendor.references).toHaveLength(1);
  });

  it('is left to an operator where its file cannot be had five times', async () => {
    const { id, money } = await unknown(BROKEN);
    vendor.film = (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
    vendor.lookUps = [FOUND];
    await until(async () => (await workOf(id))?.strikes === 5 && vendor.films === 5);
    await vendor.gateway.dataSource.query(
      'UPDATE task_work SET due_at = now() WHERE task_id = $1::uuid',
      [uuidOf(id)],
    );
    const due =
      "SELECT FROM task_work WHERE task_id = $1::uuid AND due_at > now() + interval '1 d'";
    await until(
      async () => (await vendor.gateway.dataSource.query<object[]>(due, [uuidOf(id)])).length === 1,
    );
    expect(vendor.films).toBe(5);
    expect(await shown(id)).toMatchObject({
      task_status: 'reconciliation_required',
      provider_evidence: { status: 'succeeded', asked: 'job' },
    });
    expect(await money()).toMatchObject({
      available: CREDIT_FOR_LOST - PRICE_OF_LOST,
      held: PRICE_OF_LOST,
    });
  });

  it('stays as an operator decides while its file is fetched', async () => {
    const { id, money } = await unknown(BROKEN);
    let fetched: ServerResponse | undefined;
    vendor.film = (response) => (fetched = response);
    vendor.lookUps = [FOUND];
    await until(() => fetched !== undefined);
    expect(await shown(id)).toMatchObject({ provider_evidence: { status: 'succeeded' } });
    const decided = await postJson(
      `${vendor.gateway.url}/admin/tasks/${id}/resolve`,
      { authorization: `Bearer ${ADMIN_TOKEN}` },
      { outcome: 'failed' },
    );
    expect(decided).toMatchObject({ status: 200 });
    giveLostFilm(fetched!);
    const files = 'SELECT FROM stored_file WHERE owner_id = $1::uuid AND expires_at > now()';
    await until(
      async () =>
        (await vendor.gateway.dataSource.query<object[]>(files, [uuidOf(id)])).length === 0,
    );
    expect(await shown(id)).toMatchObject({ task_status: 'failed' });
    expect(await money()).toMatchObject({ available: CREDIT_FOR_LOST, held: 0n });
    expect(await auditLedger(vendor.gateway.dataSource)).toMatchObject({
      ok: true,
      discrepancies: [],
    });
  });
});
