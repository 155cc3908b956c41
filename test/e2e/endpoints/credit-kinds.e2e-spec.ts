import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { DAY_SECONDS } from '../../../src/common/time/spans.js';
import { AdminHarness, expectError } from '../../support/admin-harness.js';
import type { TestAccount } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { until } from '../../support/until.js';

/** What a call of {@link HELLO} costs. */
const PRICE = 600;
const GRANT = 10_000;

let harness: AdminHarness;
let caller: TestAccount;
let account: string;

beforeAll(async () => {
  harness = await AdminHarness.start();
  caller = await harness.gateway.account(1_000n);
  account = toPublicId('acct', caller.accountId);
});
afterAll(() => harness.stop());

const nowSeconds = () => Math.floor(Date.now() / 1000);
const speak = (input: string = HELLO.input) =>
  postJson(`${harness.gateway.url}/v1/audio/speech`, caller.headers, { ...HELLO, input });
const ledger = async () => (await harness.list(`/accounts/${account}/ledger`)).data;
const own = async () =>
  (await send(`${harness.gateway.url}/v1/account`, { headers: caller.headers })).json;

describe('the kinds of credit', () => {
  it('are told by its entry and by the account, to operators and to the holder', async () => {
    const end = nowSeconds() + DAY_SECONDS;
    const terms = {
      credit_kind: 'granted',
      expires_at: end,
      payment_reference: 'campaign 7',
      currency: 'EUR',
      tax_microusd: '19',
    };
    const answer = await harness.credit(account, { amount_microusd: '400', ...terms }, 'grant');
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ kind: 'credit', granted_microusd: '400', ...terms });
    const again = await harness.credit(account, { amount_microusd: '400', ...terms }, 'grant');
    expect([again.json, again.headers.get('x-gateway-replayed')]).toEqual([answer.json, 'true']);
    const { credit_kind: kind, ...rest } = terms;
    const short = await harness.credit(account, { amount_microusd: '400', kind, ...rest }, 'grant');
    expect(short.json).toEqual(answer.json);
    const other = harness.credit(account, { amount_microusd: '400' }, 'grant');
    await expectError(other, 409, 'idempotency_conflict');
    const credits = [
      { credit_kind: 'granted', remaining_microusd: '400', expires_at: end },
      { credit_kind: 'paid', remaining_microusd: '1000', expires_at: null },
    ];
    expect((await harness.get(`/accounts/${account}`)).json).toMatchObject({ credits });
    expect(await own()).toMatchObject({ available_microusd: '1400', credits });
    const { bytes } = await harness.get(`/accounts/${account}/ledger?format=csv&limit=1`);
    const iso = new Date(end * 1000).toISOString();
    expect(bytes.toString()).toMatch(
      new RegExp(`,400,0.0004,granted,${iso},campaign 7,EUR,19,0.000019$`),
    );
  });

  it('are spent granted first, and come back to where they were', async () => {
    const call = await speak();
    expect((await ledger())[0]).toMatchObject({ kind: 'charge', granted_microusd: '-400' });
    expect(await own()).toMatchObject({
      credits: [{ credit_kind: 'paid', remaining_microusd: '800' }],
    });
    const id = call.headers.get('x-gateway-execution-id') ?? '';
    await harness.ask('POST', `/executions/${id}/refund`, {});
    expect((await ledger())[0]).toMatchObject({
      kind: 'correction',
      amount_microusd: String(PRICE),
      granted_microusd: '400',
    });
    expect(await own()).toMatchObject({
      credits: [
        { credit_kind: 'granted', remaining_microusd: '400' },
        { credit_kind: 'paid', remaining_microusd: '1000' },
      ],
    });
  });

  it('expire within 5 s of their time, but for what a running call holds; that expires after its end', async () => {
    const rest = async () => (await harness.get(`/accounts/${account}`)).json;
    await harness.credit(account, { amount_microusd: '-1400', reason: 'billing_error' }, 'empty');
    expect(await rest()).toMatchObject({ credits: [] });
    const terms = { credit_kind: 'granted', expires_at: nowSeconds() + 3 };
    const given = await harness.credit(account, { amount_microusd: String(GRANT), ...terms });
    const { id } = given.json as { id: string };
    // The provider fails, so that the call costs nothing.
    const call = speak('[[sandbox:delay=9000]][[sandbox:status=400]]');
    await until(async () => (await ledger())[0]?.kind === 'expiry');
    const [first] = await ledger();
    expect(first).toMatchObject({ reference: id, credit_kind: null, idempotency_key: null });
    expect(Number(first?.created_at)).toBeLessThanOrEqual(terms.expires_at + 5);
    const held = GRANT + Number(first?.amount_microusd);
    expect(held).toBeGreaterThan(0);
    expect(await rest()).toMatchObject({ held_microusd: String(held), available_microusd: '0' });
    expect((await call).status).not.toBe(200);
    const expiries = async () =>
      (await harness.list(`/accounts/${account}/ledger?kind=expiry`)).data.map(
        ({ reference, amount_microusd: amount }) => [reference, amount],
      );
    await until(async () => (await expiries()).length === 2);
    expect(await expiries()).toEqual([
      [id, String(-held)],
      [id, String(held - GRANT)],
    ]);
    expect(await rest()).toMatchObject({ credits: [], available_microusd: '0' });
  });
});

describe('the terms of a credit', () => {
  it.each([
    [{ credit_kind: 'free' }, 'credit_kind'],
    [{ expires_at: 0 }, 'expires_at'],
    [{ expires_at: 1_700_000_000 }, 'expires_at'],
    [{ expires_at: 253_402_300_800 }, 'expires_at'],
    [{ expires_at: '2030-01-01' }, 'expires_at'],
    [{ payment_reference: '' }, 'payment_reference'],
    [{ payment_reference: 'x'.repeat(201) }, 'payment_reference'],
    [{ currency: 'eur' }, 'currency'],
    [{ currency: 'XXQ' }, 'currency'],
    [{ tax_microusd: '-1' }, 'tax_microusd'],
    [{ tax_microusd: '1.5' }, 'tax_microusd'],
    [{ tax_microusd: '9'.repeat(17) }, 'tax_microusd'],
    [{ tax_microusd: '6' }, 'tax_microusd'],
    [{ amount_microusd: '-5', credit_kind: 'granted' }, 'credit_kind'],
    [{ amount_microusd: '-5', kind: 'granted' }, 'kind'],
    [{ kind: 'free' }, 'kind'],
    [{ kind: 'paid', credit_kind: 'granted' }, 'kind'],
    [{ amount_microusd: '-5', expires_at: 4_000_000_000 }, 'expires_at'],
    [{ amount_microusd: '-5', payment_reference: 'x' }, 'payment_reference'],
    [{ amount_microusd: '-5', currency: 'EUR' }, 'currency'],
    [{ amount_microusd: '-5', tax_microusd: '0' }, 'tax_microusd'],
  ])('are refused: %j', async (body, param) => {
    const call = harness.credit(account, { amount_microusd: '5', ...body });
    await expectError(call, 400, 'invalid_request', param);
  });
});
