import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { AdminHarness, expectError } from '../../support/admin-harness.js';
import { startTestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';

const HEAD =
  'id,created_at,account_id,account_name,kind,correction_kind,amount_microusd,amount_usd,balance_after_microusd,balance_after_usd,reference,note,idempotency_key,reason,granted_microusd,granted_usd,credit_kind,expires_at,payment_reference,currency,tax_microusd,tax_usd';

let harness: AdminHarness;
/** Two accounts: of the first a credit, a charge, its refund and a correction; of the second a credit. */
let account: string;
let other: string;
let execution: string;

beforeAll(async () => {
  harness = await AdminHarness.start(await startTestGateway());
  const caller = await harness.gateway.account(1_000_000n);
  account = toPublicId('acct', caller.accountId);
  await harness.ask('PATCH', `/accounts/${account}`, { name: 'Zoë, "Co"' });
  const call = await postJson(`${harness.gateway.url}/v1/audio/speech`, caller.headers, HELLO);
  execution = call.headers.get('x-gateway-execution-id') ?? '';
  await harness.ask('POST', `/executions/${execution}/refund`, {
    note: '=sorry',
    reason: 'goodwill',
  });
  await harness.credit(account, { amount_microusd: '-1500000' }, 'too-much');
  await harness.credit(
    account,
    { amount_microusd: '-500', note: 'typo', reason: 'billing_error' },
    'invoice-1-fix',
  );
  other = await harness.newAccount();
  await harness.credit(other, { amount_microusd: '5000000', note: 'first' }, 'invoice-1');
});
afterAll(() => harness.stop());

async function csv(path: string) {
  const answer = await harness.get(path);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    expect.stringMatching(/^text\/csv/),
  ]);
  const [head, ...lines] = answer.bytes.toString().split('\r\n');
  expect(head).toBe(HEAD);
  return { lines, answer };
}

describe('the ledger as operators read it', () => {
  it('lets no refund look like a reversal by its note', async () => {
    const path = `/executions/${execution}/refund`;
    const answer = harness.ask('POST', path, { note: 'reversal' });
    await expectError(answer, 400, 'invalid_request', 'note');
  });

  it('takes a reason of three words with a refund and a correction, and with nothing else', async () => {
    const refund = harness.ask('POST', `/executions/${execution}/refund`, { reason: 'sorry' });
    await expectError(refund, 400, 'invalid_request', 'reason');
    const credit = harness.credit(account, { amount_microusd: '5', reason: 'goodwill' }, 'gift');
    await expectError(credit, 400, 'invalid_request', 'reason');
    const { data } = await harness.list(`/accounts/${account}/ledger`);
    expect(data.map(({ reason }) => reason)).toEqual(['billing_error', 'goodwill', null, null]);
  });

  it('tells refunds from corrections, and shows a note once and the key of each credit', async () => {
    const { data } = await harness.list(`/accounts/${account}/ledger`);
    const facts = data.map((entry) => [
      entry.kind,
      entry.correction_kind,
      entry.reference,
      entry.note,
      entry.idempotency_key,
    ]);
    expect(facts).toEqual([
      ['correction', 'adjustment', null, 'typo', 'invoice-1-fix'],
      ['correction', 'refund', execution, '=sorry', null],
      ['charge', null, execution, null, null],
      ['credit', null, null, null, expect.any(String)],
    ]);
  });

  it('finds entries by the kind of correction and by the idempotency key, in one account and in all', async () => {
    const found = async (query: string) =>
      (await harness.list(query)).data.map(({ amount_microusd: amount }) => amount);
    const own = `/accounts/${account}/ledger`;
    expect(await found(`${own}?correction_kind=refund`)).toEqual(['600']);
    expect(await found(`${own}?correction_kind=adjustment`)).toEqual(['-500']);
    expect(await found(`${own}?correction_kind=reversal`)).toEqual([]);
    expect(await found(`${own}?idempotency_key=invoice-1`)).toEqual([]);
    expect(await found('/ledger?idempotency_key=invoice-1')).toEqual(['5000000']);
    expect(await found(`/ledger?account_id=${other}`)).toEqual(['5000000']);
    expect(await found('/ledger?correction_kind=refund')).toEqual(['600']);
    expect(await found(`${own}?reason=goodwill`)).toEqual(['600']);
    expect(await found(`${own}?reason=billing_error`)).toEqual(['-500']);
    expect(await found(`${own}?reason=fault`)).toEqual([]);
    await expectError(harness.get('/ledger?reason=other'), 400, 'invalid_request', 'reason');
    await expectError(harness.get('/ledger?kind=refund'), 400, 'invalid_request', 'kind');
    await expectError(harness.get('/ledger?limit=101'), 400, 'invalid_request', 'limit');
    await expectError(harness.get('/ledger?cursor=5'), 400, 'invalid_request', 'cursor');
  });

  it('lists all accounts page by page, one after the other', async () => {
    const all = await harness.list('/ledger?limit=100');
    expect(all.data.map(({ account_id: id }) => id)).toEqual([
      other,
      ...Array<string>(4).fill(account),
    ]);
    const pages: unknown[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await harness.list(`/ledger?limit=2${cursor && `&cursor=${cursor}`}`);
      pages.push(...page.data);
      cursor = page.next_cursor;
    }
    expect(pages).toEqual(all.data);
  });

  it('is CSV with dates, the name of the account and USD, under a file name, without an empty last line', async () => {
    const { lines, answer } = await csv(`/accounts/${account}/ledger?format=csv`);
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="ledger-${account}.csv"`,
    );
    const time = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z';
    const row = (facts: string) =>
      expect.stringMatching(
        new RegExp(`^entry_\\w{32},${time},${account},"Zoë, ""Co""",${facts}$`),
      );
    expect(lines).toEqual([
      row(
        'correction,adjustment,-500,-0.0005,999500,0.9995,,typo,invoice-1-fix,billing_error,0,0.00,,,,,,',
      ),
      row(`correction,refund,600,0.0006,1000000,1.00,${execution},'=sorry,,goodwill,0,0.00,,,,,,`),
      row(`charge,,-600,-0.0006,999400,0.9994,${execution},,,,0,0.00,,,,,,`),
      row('credit,,1000000,1.00,1000000,1.00,,.*'),
    ]);
  });

  it('is one CSV over all accounts, with the cursor of its next page in a header', async () => {
    const first = await csv('/ledger?format=csv&limit=3');
    expect(first.lines).toHaveLength(3);
    expect(first.answer.headers.get('content-disposition')).toContain('filename="ledger.csv"');
    const cursor = first.answer.headers.get('x-gateway-next-cursor') ?? '';
    const second = await csv(`/ledger?format=csv&limit=1000&cursor=${cursor}`);
    expect(second.lines).toHaveLength(2);
    expect(second.answer.headers.get('x-gateway-next-cursor')).toBeNull();
  });
});
