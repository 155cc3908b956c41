import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../src/common/errors/gateway-error.js';
import { IdempotencyClaims } from '../../src/tasks/submission/idempotency-claims.js';
import type { PreparedTask } from '../../src/tasks/submission/task-request.js';
import type { TestAccount } from '../support/gateway.js';
import {
  JOB_PRICE,
  type JobSubmission,
  startBeside,
  startTaskHarness,
  type TaskHarness,
} from '../support/task-harness.js';

let harness: TaskHarness;
let account: TestAccount;
let prepared: number;

beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());
beforeEach(async () => {
  account = await harness.gateway.account();
  prepared = 0;
});

/** A submission that counts how often it is prepared, which takes a while. */
function keyed(key: string, more: JobSubmission = {}): JobSubmission {
  const prepare = async (): Promise<PreparedTask> => {
    prepared += 1;
    await new Promise((resolve) => setTimeout(resolve, 20));
    return {
      input: { name: key, plan: 'accept' },
      details: {},
      quote: { amountMicroUsd: JOB_PRICE, basis: null },
      route: { provider: 'elevenlabs', upstreamModel: 'dubbing_v1' },
    };
  };
  return { key, prepare, ...more };
}

async function held(): Promise<bigint> {
  return (await harness.gateway.balance(account.accountId)).held;
}

describe('an idempotency key', () => {
  it('makes one task, one hold and one preparation of 500 concurrent requests from three keys of the account (IDEM-08, G-86)', async () => {
    const apiKeyIds = [randomUUID(), randomUUID(), randomUUID()];
    const tasks = await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        harness.submit(account, keyed('500', { apiKeyId: apiKeyIds[index % 3] ?? '' })),
      ),
    );
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(1);
    expect(prepared).toBe(1);
    expect(await held()).toBe(JOB_PRICE);
  });

  it('lets one body win where two are sent at once', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        harness.submit(account, keyed('two bodies', { body: { n: index % 2 } })),
      ),
    );
    const won = outcomes.filter(({ status }) => status === 'fulfilled');
    const refused = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [(outcome.reason as GatewayError).code] : [],
    );
    expect(won).toHaveLength(20);
    expect(new Set(refused)).toEqual(new Set(['idempotency_conflict']));
    expect(await held()).toBe(JOB_PRICE);
  });

  it('is one across processes, and a twin in another process waits for the first', async () => {
    const other = await startBeside(harness);
    try {
      const claims = other.gateway.app.get(IdempotencyClaims);
      const use = {
        accountId: account.accountId,
        endpoint: '/v1/audio/dubbing',
        key: 'elsewhere',
        fingerprints: claims.fingerprintsOf({ source_url: 'https://media.example/source.mp3' }),
        sentFingerprint: null,
      };
      const asked = await claims.claim(use);
      if (asked.outcome !== 'claimed') throw new Error('the key is new');
      const waiting = harness.submit(account, keyed('elsewhere'));
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(prepared).toBe(0);
      await expect(
        claims.during(asked.claim, () => Promise.reject(new Error('refused there'))),
      ).rejects.toThrow('refused there');
      expect((await waiting).status).toBe('queued');
      expect(prepared).toBe(1);
    } finally {
      await other.stop();
    }
  });

  it('returns the task as it is by now, without a second charge (IDEM-01, IDEM-03)', async () => {
    const first = await harness.submit(account, keyed('again'));
    expect((await harness.submit(account, keyed('again'))).id).toBe(first.id);
    await harness.run(2);
    const replay = await harness.submit(account, keyed('again'));
    expect(replay).toMatchObject({ id: first.id, status: 'succeeded' });
    expect({ prepared, held: await held() }).toEqual({ prepared: 1, held: 0n });
  });

  it('is refused with another body, and the first task is untouched (IDEM-02)', async () => {
    const first = await harness.submit(account, keyed('other body'));
    await expect(
      harness.submit(account, keyed('other body', { body: { source_url: 'other' } })),
    ).rejects.toMatchObject({ code: 'idempotency_conflict', param: 'Idempotency-Key' });
    expect(await harness.read(first)).toEqual(first);
  });

  it('is known to every gateway on the database, one started later too (IDEM-15)', async () => {
    const first = await harness.submit(account, keyed('restarted'));
    const other = await startBeside(harness);
    try {
      expect((await other.submit(account, keyed('restarted'))).id).toBe(first.id);
    } finally {
      await other.stop();
    }
    expect(prepared).toBe(1);
  });

  it('does not mind the order of keys or how a number is written (IDEM-11, G-86)', async () => {
    const first = await harness.submit(
      account,
      keyed('order', { body: { a: 1, b: { c: 2, d: 3 } } }),
    );
    const body: object = JSON.parse('{"b": {"d": 3.0, "c": 2e0}, "a": 1}') as object;
    expect((await harness.submit(account, keyed('order', { body }))).id).toBe(first.id);
  });

  it.each([
    ['another key', { key: 'key 2' }],
    ['no key', { key: undefined }],
    ['another endpoint', { endpoint: '/v1/music/generations' }],
  ])('is not that of a request with %s (IDEM-06, IDEM-07, IDEM-10)', async (_name, more) => {
    const first = await harness.submit(account, keyed('key 1'));
    const { key: _key, ...rest } = keyed('key 1');
    const second = await harness.submit(account, { ...rest, ...(more as JobSubmission) });
    expect(second.id).not.toBe(first.id);
    expect(await held()).toBe(2n * JOB_PRICE);
  });

  it('is not that of another account (IDEM-09)', async () => {
    const first = await harness.submit(account, keyed('mine'));
    const other = await harness.gateway.account();
    expect((await harness.submit(other, keyed('mine'))).id).not.toBe(first.id);
  });

  it('stays free after a refusal (IDEM-12, G-86)', async () => {
    const refuse = (): Promise<PreparedTask> =>
      Promise.reject(new GatewayError('audio_download_failed', 'no'));
    await expect(
      harness.submit(account, keyed('refused', { prepare: refuse })),
    ).rejects.toMatchObject({ code: 'audio_download_failed' });
    const poor = await harness.gateway.account(1n);
    await expect(harness.submit(poor, keyed('poor'))).rejects.toMatchObject({
      code: 'insufficient_funds',
    });
    const bodies = { body: { source_url: 'corrected' } };
    expect((await harness.submit(account, keyed('refused', bodies))).status).toBe('queued');
    const rows = await harness.gateway.dataSource.query<unknown[]>(
      `SELECT FROM idempotency_key WHERE account_id = $1`,
      [poor.accountId],
    );
    expect(rows).toEqual([]);
  });

  it('returns its task although the balance is gone by now (IDEM-13)', async () => {
    const poor = await harness.gateway.account(JOB_PRICE);
    const first = await harness.submit(poor, keyed('spent'));
    expect((await harness.submit(poor, keyed('spent'))).id).toBe(first.id);
  });

  it('of a request that died is anybody’s once its lease is over', async () => {
    const claims = harness.gateway.app.get(IdempotencyClaims);
    const use = {
      accountId: account.accountId,
      endpoint: '/v1/audio/dubbing',
      key: 'died',
      fingerprints: claims.fingerprintsOf({ any: 'body' }),
      sentFingerprint: null,
    };
    await claims.claim(use);
    await expect(harness.submit(account, keyed('died'))).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    await harness.gateway.dataSource.query(
      `UPDATE idempotency_key SET lease_until = now() - interval '1 second' WHERE key = 'died'`,
    );
    expect((await harness.submit(account, keyed('died'))).status).toBe('queued');
  });

  it('is forgotten where nothing came of it, and kept with its task', async () => {
    const claims = harness.gateway.app.get(IdempotencyClaims);
    const task = await harness.submit(account, keyed('kept'));
    await claims.claim({
      accountId: account.accountId,
      endpoint: '/v1/audio/dubbing',
      key: 'left',
      fingerprints: claims.fingerprintsOf({}),
      sentFingerprint: null,
    });
    await harness.gateway.dataSource.query(
      `UPDATE idempotency_key SET lease_until = now() - interval '2 hours'`,
    );
    expect(await claims.sweep()).toBe(1);
    expect((await harness.submit(account, keyed('kept'))).id).toBe(task.id);
  });
});
