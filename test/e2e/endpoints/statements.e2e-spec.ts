import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { UsageRollup } from '../../../src/billing/usage/usage-rollup.js';
import { ageRows } from '../../support/age-rows.js';
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestAccount,
  type TestGateway,
} from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { DAY_MS } from '../../../src/common/time/spans.js';

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
const NOW = new Date().toISOString().slice(0, 7);
const NEXT = new Date(Date.now() + 40 * DAY_MS).toISOString().slice(0, 7);
const NAME = `<b>Zoë & "Söhne"</b>${'x'.repeat(150)}`;

let gateway: TestGateway;
let account: TestAccount;
let id: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.account(1_000_000n);
  id = toPublicId('acct', account.accountId);
  await admin(`accounts/${id}`, { name: NAME }, 'PATCH');
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const get = (path: string, headers: Record<string, string> = account.headers) =>
  send(`${gateway.url}${path}`, { headers });
const admin = (path: string, body: object, method = 'POST', key?: string) =>
  send(`${gateway.url}/admin/${path}`, {
    method,
    headers: {
      ...ADMIN,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  });
const speak = async (fields: object = {}) => {
  const url = `${gateway.url}/v1/audio/speech`;
  const answer = await postJson(url, account.headers, { ...HELLO, ...fields });
  return answer.headers.get('x-gateway-execution-id') ?? '';
};
const statement = async (month = NOW) => (await get(`/v1/statements/${month}`)).json;

describe('the statement of a month', () => {
  it('has the balance, what moved it, and what calls under way hold', async () => {
    const execution = await speak();
    await speak();
    await admin(`executions/${execution}/refund`, { reason: 'goodwill', note: 'secret' });
    await admin(
      `accounts/${id}/credits`,
      { amount_microusd: '-400', reason: 'billing_error' },
      'POST',
      'fix',
    );
    const tokens = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };
    expect(await statement()).toEqual({
      object: 'statement',
      number: `${id}-${NOW}`,
      account_id: id,
      month: NOW,
      status: 'open',
      currency: 'USD',
      opening_microusd: '0',
      credits_microusd: '1000000',
      tax_microusd: null,
      corrections_microusd: '-400',
      charges_microusd: '1200',
      refunds_microusd: '600',
      expired_microusd: '0',
      closing_microusd: '999000',
      held_microusd: '0',
      charges: [
        {
          model: 'aud-v4',
          calls: 2,
          ...tokens,
          quantity: 10,
          unit: 'code_point',
          amount_microusd: '1200',
        },
      ],
      credits: [expect.objectContaining({ kind: 'credit', amount_microusd: '1000000' })],
      corrections: [expect.objectContaining({ amount_microusd: '-400', reason: 'billing_error' })],
      refunds: [
        expect.objectContaining({
          reference: execution,
          amount_microusd: '600',
          reason: 'goodwill',
        }),
      ],
      expiries: [],
      omitted_entries: 0,
    });
    const call = speak({ input: '[[sandbox:delay=300]]Hi' });
    let held: unknown = '0';
    while (held === '0') held = ((await statement()) as { held_microusd: string }).held_microusd;
    expect(held).toBe('2760');
    await call;
  });

  it('splits the tokens of a model as its usage does', async () => {
    const chat = { model: 'gen-5-mini', messages: [{ role: 'user', content: 'Hello there' }] };
    const call = await postJson(`${gateway.url}/v1/chat/completions`, account.headers, chat);
    expect(call.status).toBe(200);
    const { data } = (await get('/v1/usage?group_by=model&model=gen-5-mini')).json as {
      data: [Record<string, unknown>];
    };
    const { charges } = (await statement()) as { charges: { model: string }[] };
    const line = charges.find(({ model }) => model === 'gen-5-mini');
    const names = ['input_tokens', 'cached_tokens', 'output_tokens', 'reasoning_tokens'] as const;
    const [used] = data;
    expect(used.output_tokens).toBeGreaterThan(0);
    expect(line).toEqual({
      model: 'gen-5-mini',
      calls: 1,
      ...Object.fromEntries(names.map((name) => [name, used[name]])),
      quantity: used.quantity,
      unit: 'token',
      amount_microusd: used.charged_microusd,
    });
  });

  it('is for operators the same with the name of the account', async () => {
    const own = await statement();
    const answer = await get(`/admin/accounts/${id}/statements/${NOW}`, ADMIN);
    expect(answer.json).toEqual({ ...(own as object), account_name: NAME });
    expect(JSON.stringify(own)).not.toContain('secret');
  });

  it('is CSV whose amounts add up to the closing balance', async () => {
    const answer = await get(`/v1/statements/${NOW}?format=csv`);
    expect(answer.headers.get('content-type')).toMatch(/^text\/csv/);
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="statement-${id}-${NOW}.csv"`,
    );
    const [head = '', ...lines] = answer.bytes.toString().split('\r\n');
    const [line, amount] = ['line', 'amount_microusd'].map((name) => head.split(',').indexOf(name));
    const rows = lines.map((text) => text.split(','));
    const amounts = rows.map(
      (cells) => [cells[line!] ?? '', BigInt(cells[amount!] ?? '')] as const,
    );
    expect(amounts.map(([name]) => name)).toEqual([
      ...['opening', 'credit', 'correction', 'charge', 'charge', 'refund', 'closing', 'held'],
    ]);
    const moved = amounts.slice(0, -2).reduce((sum, [, value]) => sum + value, 0n);
    expect(moved).toBe(amounts.at(-2)?.[1]);
  });

  it('is a page to print, escaped, without a script, under a policy that allows its own style only', async () => {
    const answer = await get(`/admin/accounts/${id}/statements/${NOW}?format=html`, ADMIN);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    const page = answer.bytes.toString();
    expect(page).toContain('&lt;b&gt;Zoë &amp; &quot;Söhne&quot;&lt;/b&gt;');
    expect(page).toMatch(/<td>\d{2} code points<\/td>/);
    expect(page).toMatch(/<td>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d<\/td>/);
    expect(page).not.toMatch(/<script|<b>|javascript:|secret/);
    expect((await get(`/v1/statements/${NOW}?format=html`)).bytes.toString()).not.toContain('Zoë');
  });

  it('does not begin before its month, and is of a month', async () => {
    for (const [path, status, param] of [
      [`/v1/statements/${NEXT}`, 404, 'month'],
      ['/v1/statements/2026-13', 400, 'month'],
      ['/v1/statements/now', 400, 'month'],
      [`/v1/statements/${NOW}?format=pdf`, 400, 'format'],
      [`/v1/statements/${NOW}?month=1`, 400, 'month'],
    ] as const) {
      const answer = await get(path);
      expect([path, answer.status, errorOf(answer).param]).toEqual([path, status, param]);
    }
    const unknown = `/admin/accounts/acct_${'0'.repeat(32)}/statements/${NOW}`;
    expect((await get(unknown, ADMIN)).status).toBe(404);
  });

  it('is closed when the month is over, and a later refund stands in its own month', async () => {
    const execution = await speak();
    const rollup = gateway.app.get(UsageRollup, { strict: false });
    await rollup.tick(0);
    await rollup.tick(0);
    // As if all of this had been two months ago. Sums of usage are of days, which are moved as well.
    await ageRows(gateway.dataSource, 61);
    await gateway.dataSource.query(
      `UPDATE usage_day SET day = day - 61; UPDATE usage_refund SET day = day - 61; UPDATE usage_state SET folded_until = now()`,
    );
    const month = new Date(Date.now() - 61 * DAY_MS).toISOString().slice(0, 7);
    const before = (await statement(month)) as Record<string, unknown>;
    expect(before).toMatchObject({
      status: 'closed',
      opening_microusd: '0',
      refunds_microusd: '600',
    });
    await admin(`executions/${execution}/refund`, {});
    expect(await statement(month)).toEqual(before);
    expect(await statement()).toMatchObject({
      opening_microusd: before.closing_microusd,
      refunds_microusd: '600',
      charges_microusd: '0',
      status: 'open',
    });
  });
});
