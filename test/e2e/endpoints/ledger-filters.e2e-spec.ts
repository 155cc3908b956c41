import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { entriesOf } from '../../../src/billing/ledger-entries.js';
import type { LedgerEntry } from '../../../src/billing/ledger-entry.js';
import type { EntryQuery } from '../../../src/billing/ledger-requests.js';
import { AdminHarness, expectError } from '../../support/admin-harness.js';
import { startTestGateway } from '../../support/gateway.js';
import { type Answer, postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';

const ENTRIES = 25_000;
const CALLS_OF_KEY = 5;

/** Charges of 1, one of each five thousand from the key, all for calls but one of them, which is for a task. */
const FILL = `
  WITH call AS (
    SELECT n, gen_random_uuid() AS id, CASE WHEN n % 5000 = 0 THEN $2::uuid END AS key FROM generate_series(1, $3::int) n
  ), charge AS (
    INSERT INTO ledger_entry (account_id, hold_id, owner, kind, amount, balance_after)
    SELECT $1, id, CASE WHEN n = $3::int THEN 'task' END, 'charge', -1, $3 - n FROM call ORDER BY n
  ), task AS (
    INSERT INTO task (account_id, id, api_key_id, kind, modality, model, status, details, provider, provider_base_url,
                      on_sandbox, upstream_model, reserved, charged, result, completed_at)
    SELECT $1, id, key, 'song', 'audio', 'song-bpm', 'succeeded', '{}', 'p', 'u', true, 'm', 1, 1, '{}', now()
      FROM call WHERE n = $3::int
  ), hold AS (
    INSERT INTO hold (account_id, id, amount, owner, state, settled_amount, resolved_at)
    SELECT $1, id, 1, 'task', 'settled', 1, now() FROM call WHERE n = $3::int
  )
  INSERT INTO execution (account_id, id, api_key_id, held, model, endpoint, status, charged, completed_at)
  SELECT $1, id, key, 1, 'aud-v4', '/v1/audio/speech', 'succeeded', 1, now() FROM call WHERE n < $3::int`;

let harness: AdminHarness;
beforeAll(async () => {
  harness = await AdminHarness.start(await startTestGateway());
});
afterAll(() => harness.stop());

describe('the ledger of an account', () => {
  const speak = (headers: Record<string, string>, fields: object) =>
    postJson(`${harness.gateway.url}/v1/audio/speech`, headers, { ...HELLO, ...fields });
  const executionId = (answer: Answer) => answer.headers.get('x-gateway-execution-id') ?? '';

  it('is filtered by model and by key, refunds and charges of tasks included', async () => {
    const { headers, accountId } = await harness.gateway.account();
    const account = `acct_${accountId.replaceAll('-', '')}`;
    const issued = await harness.post(`/accounts/${account}/keys`, { name: 'other' });
    const other = issued.json as { id: string; key: string };
    const slow = executionId(await speak(headers, { model: 'aud-v3' }));
    const quick = executionId(await speak(headers, { model: 'aud-flash-v2.5' }));
    const ofOther = executionId(
      await speak({ authorization: `Bearer ${other.key}` }, { model: 'aud-v3' }),
    );
    await harness.post(`/executions/${slow}/refund`, {});

    const entries = async (filter: string) =>
      (await harness.list(`/accounts/${account}/ledger?${filter}`)).data.map(
        ({ kind, reference }) => [kind, reference],
      );
    expect(await entries('model=aud-v3')).toEqual([
      ['correction', slow],
      ['charge', ofOther],
      ['charge', slow],
    ]);
    expect(await entries('model=aud-flash-v2.5')).toEqual([['charge', quick]]);
    expect(await entries(`api_key_id=${other.id}`)).toEqual([['charge', ofOther]]);
    expect(await entries(`api_key_id=${other.id}&model=aud-flash-v2.5`)).toEqual([]);
    expect(await entries('model=aud-v3&kind=charge')).toHaveLength(2);
    expect(await entries('model=no-such-model')).toEqual([]);
  });

  it('refuses an id that is not the id of a key', async () => {
    const account = await harness.newAccount();
    const asked = harness.get(`/accounts/${account}/ledger?api_key_id=exec_1`);
    await expectError(asked, 400, 'invalid_request', 'api_key_id');
  });

  it('reads at most 10,000 entries for a page and continues from there', async () => {
    const [account, key] = [randomUUID(), randomUUID()];
    const { dataSource } = harness.gateway;
    await dataSource.query(FILL, [account, key, ENTRIES]);
    const list = async (filter: Partial<EntryQuery>) => {
      const items: LedgerEntry[] = [];
      let cursor: string | undefined;
      for (let pages = 1; ; pages += 1) {
        const page = await entriesOf(dataSource, account, { limit: 20, cursor, ...filter });
        items.push(...page.items);
        if (page.nextCursor === null) return { items, pages };
        cursor = page.nextCursor;
      }
    };
    const ofKey = await list({ apiKeyId: key });
    expect(ofKey.items).toHaveLength(CALLS_OF_KEY);
    expect(ofKey.items.map(({ holdOwner }) => holdOwner)).toEqual(['task', null, null, null, null]);
    // 25,000 entries: two full scans and the rest.
    expect(ofKey.pages).toBe(3);
    expect((await list({ apiKeyId: key, model: 'song-bpm' })).items).toHaveLength(1);
    // Charges do not hide what is no charge, however many there are.
    expect((await list({ kind: 'credit' })).pages).toBe(1);
    expect((await list({ kind: 'charge', createdBefore: new Date(0) })).pages).toBe(3);
    expect((await list({ limit: 10_000 })).items).toHaveLength(ENTRIES);
  });
});
