import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { DubbingHarness } from '../support/dubbing-harness.js';

type Query = (config: unknown, ...rest: unknown[]) => Promise<unknown>;

/** A key that is seen to change while a request runs, as a new one is, counts as one that may have a limit. */
const SUBMISSION = 'task_submit_v2';

let harness: DubbingHarness;
let pool: Pool;
let intact: Pick<Pool, 'query' | 'connect'>;

beforeAll(async () => {
  harness = await DubbingHarness.open();
  ({ master: pool } = harness.gateway.app.get(DataSource).driver as unknown as { master: Pool });
  intact = { query: pool.query.bind(pool), connect: pool.connect.bind(pool) };
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());
afterEach(() => {
  Object.assign(pool, intact);
});

const broken = (code: string) => Object.assign(new Error(code), { code });

/** Every try to write a task comes to this; `send` lets it happen. */
function eachTry(outcome: (send: () => Promise<unknown>) => Promise<unknown>): void {
  const query = intact.query as Query;
  Object.assign(pool, {
    query: (config: unknown, ...rest: unknown[]) => {
      const send = () => query(config, ...rest);
      const { name = '' } = config as { readonly name?: string };
      return name === SUBMISSION ? outcome(send) : send();
    },
  });
}

const files = () =>
  harness.gateway.dataSource.query<unknown[]>(
    `SELECT id FROM stored_file WHERE account_id = $1 AND expires_at > now()`,
    [harness.account.accountId],
  );

describe('the source of a dub that the database does not take', () => {
  it.each(['ECONNREFUSED', '40P01'])('is removed where nothing stands (%s)', async (code) => {
    eachTry(() => Promise.reject(broken(code)));
    const answer = await harness.post();
    expect([answer.status, answer.json]).toMatchObject([
      503,
      { error: { code: 'service_unavailable' } },
    ]);
    expect(await files()).toEqual([]);
  });

  it('is kept where the task may stand, and the same key then answers the task, which is dubbed', async () => {
    const headers = { 'idempotency-key': 'unknown' };
    eachTry(async (send) => {
      await send();
      // From now on readers cannot ask either.
      Object.assign(pool, {
        connect: (done: (error: Error) => void) => {
          done(broken('ECONNREFUSED'));
        },
      });
      throw broken('ECONNRESET');
    });
    const answer = await harness.post({}, headers);
    expect(answer.status).toBe(503);
    Object.assign(pool, intact);
    const { id } = await harness.submit({}, headers);
    expect(await harness.ended(id)).toMatchObject({ status: 'succeeded' });
    expect(harness.host.seen).toHaveLength(1);
  });
});
