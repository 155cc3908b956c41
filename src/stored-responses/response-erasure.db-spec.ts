import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { SecretBox } from '../common/secrets/secret-box.js';
import { ResponseStore } from './response-store.js';
import { StoredContent } from './stored-content.js';

let database: TestDatabase;
let db: DataSource;
let store: ResponseStore;
beforeAll(async () => {
  database = await createTestDatabase();
  db = database.dataSource;
  store = new ResponseStore(db, new StoredContent(new SecretBox(['k'.repeat(40)])), {
    responsesRetentionDays: 30,
    responsesMaxBytesPerAccount: 104_857_600,
  });
});
afterAll(() => database.drop());

const BEGUN = {
  call: `INSERT INTO execution (account_id, id, held, model, endpoint) VALUES ($1, $2, 1, 'm', '/v1/responses')`,
  task: `INSERT INTO task (account_id, id, kind, modality, model, details, provider, provider_base_url, on_sandbox,
           upstream_model, reserved) VALUES ($1, $2, 'response', 'text', 'm', '{}', 'p', '', true, 'm', 1)`,
};

/** A response whose call or task begins now. */
async function begun(accountId: string, as: keyof typeof BEGUN): Promise<string> {
  const id = randomUUID();
  await db.query(BEGUN[as], [accountId, id]);
  return id;
}

const stored = (accountId: string, id: string) =>
  store.store(accountId, {
    id,
    response: { object: 'response' },
    items: [{ id: randomUUID(), item: { type: 'message' } }],
    outputItems: 1,
  });

describe.each(['call', 'task'] as const)('the response of a %s', (as) => {
  it('that began before its account was erased is not stored, and a later one is (G-108)', async () => {
    const [account, other] = [randomUUID(), randomUUID()];
    const [before, ofOther] = [await begun(account, as), await begun(other, as)];
    expect(await store.erase(account)).toBe(0);
    expect(await stored(account, before)).toBe(false);
    expect(await stored(account, await begun(account, as))).toBe(true);
    expect(await stored(other, ofOther)).toBe(true);
    expect(await store.response(account, before)).toBeUndefined();
  });
});

const act = fc.constantFrom('begin', 'begin', 'store', 'store', 'erase');

it('is stored, in any history and also at once with an erasure, if and only if nothing was erased since it began', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 14 }), async (acts) => {
      const account = randomUUID();
      let open: string[] = [];
      let kept: string[] = [];
      for (const one of acts) {
        if (one === 'begin') open.push(await begun(account, 'call'));
        else if (one === 'erase') {
          // Those that are stored at the same time may come first, and are erased then.
          await Promise.all([store.erase(account), ...open.map((id) => stored(account, id))]);
          [open, kept] = [[], []];
        } else {
          const [id, ...rest] = open;
          if (id === undefined) continue;
          expect(await stored(account, id)).toBe(true);
          kept.push(id);
          open = rest;
        }
      }
      const rows = await db.query<{ id: string }[]>(
        'SELECT id FROM stored_response WHERE account_id = $1',
        [account],
      );
      expect(rows.map(({ id }) => id).sort()).toEqual(kept.sort());
    }),
    { numRuns: 40 },
  );
});
