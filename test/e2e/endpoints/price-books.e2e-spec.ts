import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AdminHarness, expectError } from '../../support/admin-harness.js';
import type { TestAccount } from '../../support/gateway-accounts.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { until } from '../../support/until.js';

let admin: AdminHarness;

beforeAll(async () => {
  admin = await AdminHarness.start();
});
afterAll(() => admin.stop());

const bookId = (): string => `book-${randomUUID()}`;

/** A new price book. */
async function newBook(terms: object): Promise<string> {
  const id = bookId();
  const answer = await admin.post('/price-books', { id, ...terms });
  expect(answer.status).toBe(201);
  return id;
}

const publicId = ({ accountId }: TestAccount): string => `acct_${accountId.replaceAll('-', '')}`;

const give = (account: TestAccount, book: string | null): Promise<Answer> =>
  admin.ask('PATCH', `/accounts/${publicId(account)}`, { price_book: book });

const priceOf = async ({ headers }: TestAccount, model: string): Promise<unknown> =>
  ((await send(`${admin.gateway.url}/v1/models/${model}`, { headers })).json as { price: unknown })
    .price;

/** Waits until the gateway shows the account a price with this factor. */
const seen = (account: TestAccount, factor: number | undefined): Promise<void> =>
  until(async () => {
    const price = (await priceOf(account, 'aud-v4')) as { factor_permille?: number };
    return price.factor_permille === factor;
  }, 10_000);

const speak = ({ headers }: TestAccount): Promise<Answer> =>
  postJson(`${admin.gateway.url}/v1/audio/speech`, headers, HELLO);

async function recordOf({ headers }: TestAccount, answer: Answer): Promise<unknown> {
  const id = answer.headers.get('x-gateway-execution-id') ?? '';
  return (await send(`${admin.gateway.url}/v1/executions/${id}`, { headers })).json;
}

/** A price of a model in a book. */
const price = (id: string, fields: object): object =>
  Object({ id, price: { unit: 'code_point', micro_usd: 1, ...fields } }) as object;

describe('price books of the operator', () => {
  it('are created, listed, replaced, planned and deleted', async () => {
    const id = bookId();
    const models = [{ id: 'aud-v4', price: { unit: 'code_point', micro_usd: 7 } }];
    const created = await admin.post('/price-books', { id, factor_permille: 900, models });
    expect(created.status).toBe(201);
    const first = { id, object: 'price_book', factor_permille: 900, models, version: 1 };
    expect(created.json).toMatchObject({ ...first, planned: [], accounts: 0 });
    expect((await admin.get(`/price-books/${id}`)).json).toEqual(created.json);
    const after = await admin.list('/price-books?limit=1');
    expect(after).toMatchObject({ object: 'list', data: [{ object: 'price_book' }] });
    const later = 4_000_000_000;
    const planned = await admin.ask('PUT', `/price-books/${id}`, { valid_from: later });
    expect(planned.json).toMatchObject({
      ...first,
      planned: [{ version: 2, factor_permille: 1_000, models: [], valid_from: later }],
    });
    const replaced = await admin.ask('PUT', `/price-books/${id}`, { factor_permille: 850 });
    expect(replaced.json).toMatchObject({
      version: 3,
      factor_permille: 850,
      models: [],
      planned: [{ version: 2, valid_from: later }],
    });
    expect((await admin.ask('DELETE', `/price-books/${id}`)).status).toBe(204);
    await expectError(admin.get(`/price-books/${id}`), 404, 'not_found', 'id');
    await expectError(admin.ask('DELETE', `/price-books/${id}`), 404, 'not_found');
    await expectError(admin.ask('PUT', `/price-books/${id}`, {}), 404, 'not_found');
    // Versions go on counting, because calls name them.
    expect((await admin.post('/price-books', { id })).json).toMatchObject({ version: 4 });
  });

  it('are recorded with what changed', async () => {
    const id = await newBook({ factor_permille: 900 });
    await admin.ask('PUT', `/price-books/${id}`, { factor_permille: 800 });
    const { data } = await admin.list(`/operator-actions?target=${id}`);
    expect(data).toMatchObject([
      {
        action: 'price-book:replace',
        outcome: 'done',
        before: { factor_permille: 900 },
        after: { factor_permille: 800 },
      },
      { action: 'price-book:create', outcome: 'done', after: { factor_permille: 900 } },
    ]);
  });

  it.each([
    ['a factor of zero', { factor_permille: 0 }, 'factor_permille'],
    ['a factor above ten', { factor_permille: 10_001 }, 'factor_permille'],
    ['a factor in a text', { factor_permille: '900' }, 'factor_permille'],
    ['a fraction', { factor_permille: 0.9 }, 'factor_permille'],
    ['an id of other characters', { id: 'Partners!' }, 'id'],
    ['an unknown field', { factor: 1 }, 'factor'],
    ['a negative time', { valid_from: -1 }, 'valid_from'],
    ['an unknown model', { models: [price('no-model', {})] }, 'models.0.id'],
    ['a model twice', { models: [price('aud-v4', {}), price('aud-v4', {})] }, 'models.1.id'],
    ['another unit', { models: [price('aud-v4', { unit: 'request' })] }, 'models.0.price'],
    [
      'a negative price',
      { models: [price('aud-v4', { micro_usd: -1 })] },
      'models.0.price.micro_usd',
    ],
    [
      'an absurd price',
      { models: [price('aud-v4', { micro_usd: Number.MAX_SAFE_INTEGER })] },
      'models.0.price',
    ],
  ])('refuse %s, and name the field', async (_what, terms, param) => {
    await expectError(
      admin.post('/price-books', { id: bookId(), ...terms }),
      400,
      'invalid_request',
      param,
    );
  });
});

describe('an account with a price book', () => {
  it('pays by it for each call from within 2 s on, and its calls name it', async () => {
    const account = await admin.gateway.account();
    const listed = await speak(account);
    expect(await recordOf(account, listed)).toMatchObject({
      price_book: null,
      factor_permille: null,
    });
    const id = await newBook({ factor_permille: 333 });
    expect((await give(account, id)).json).toMatchObject({ price_book: id });
    await seen(account, 333);
    const answer = await speak(account);
    // 5 characters at 120 are 600; a third of it, rounded up.
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe('200');
    expect(await recordOf(account, answer)).toMatchObject({
      held_microusd: '200',
      charged_microusd: '200',
      unit_price_microusd: '120',
      quantity: 5,
      price_book: id,
      factor_permille: 333,
    });
    await admin.ask('PUT', `/price-books/${id}`, { factor_permille: 2_000 });
    await seen(account, 2_000);
    expect((await speak(account)).headers.get('x-gateway-charge-microusd')).toBe('1200');
    await give(account, null);
    await seen(account, undefined);
    expect((await speak(account)).headers.get('x-gateway-charge-microusd')).toBe('600');
  });

  it('sees its own prices, in the list and in a refusal, and pays a price of its own as it stands', async () => {
    const account = await admin.gateway.account(100n);
    const models = [{ id: 'aud-v4', price: { unit: 'code_point', micro_usd: 21 } }];
    const id = await newBook({ factor_permille: 500, models });
    await give(account, id);
    await until(async () => {
      const price = (await priceOf(account, 'aud-v4')) as { amount_microusd: string };
      return price.amount_microusd === '21';
    }, 10_000);
    expect(await priceOf(account, 'aud-v4')).toEqual({ unit: 'code_point', amount_microusd: '21' });
    expect(await priceOf(account, 'gen-5-mini')).toMatchObject({
      input_per_million: '250000',
      factor_permille: 500,
    });
    const { headers } = account;
    const list = await send(`${admin.gateway.url}/v1/models`, { headers });
    const { data } = list.json as { data: { id: string; pricing: Record<string, string> }[] };
    expect(data.find((model) => model.id === 'gen-5-mini')?.pricing).toMatchObject({
      prompt: '0.000000125',
      completion: '0.000001',
    });
    const refusal = await speak(account);
    expect(refusal.status).toBe(402);
    expect(errorOf(refusal)).toMatchObject({ needed_microusd: '105', available_microusd: '100' });
    expect(errorOf(refusal).message).toContain('105');
  });

  it('pays for chats and tasks by it, and what was submitted before keeps its price', async () => {
    const account = await admin.gateway.account();
    const id = await newBook({ factor_permille: 700 });
    await give(account, id);
    await seen(account, 700);
    const { headers } = account;
    const url = admin.gateway.url;
    const song = await postJson(`${url}/v1/music/generations`, headers, {
      model: 'song-lyrics',
      prompt: 'A slow waltz about rain',
    });
    expect(song.status).toBe(202);
    await admin.ask('PUT', `/price-books/${id}`, { factor_permille: 1_500 });
    const { id: taskId, reserved_microusd: reserved } = song.json as Record<string, string>;
    const path = `/tasks/${taskId ?? ''}`;
    await until(async () => {
      const task = (await admin.get(path)).json as { task_status: string };
      return task.task_status === 'succeeded';
    });
    const task = (await admin.get(path)).json as Record<string, string>;
    expect(task).toMatchObject({
      charged_microusd: reserved,
      price_book: id,
      factor_permille: 700,
    });
    expect(BigInt(reserved ?? 0)).toBe((BigInt(task.unit_price_microusd ?? 0) * 7n + 9n) / 10n);
    await seen(account, 1_500);
    const chat = await postJson(`${url}/v1/chat/completions`, headers, {
      model: 'gen-5-mini',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(chat.status).toBe(200);
    const { usage } = chat.json as { usage: Record<string, number> };
    const exact =
      BigInt(usage.prompt_tokens ?? 0) * 250_000n +
      BigInt(usage.completion_tokens ?? 0) * 2_000_000n;
    const due = (exact * 1_500n + 999_999_999n) / 1_000_000_000n;
    expect(chat.headers.get('x-gateway-charge-microusd')).toBe(due.toString());
    expect(await recordOf(account, chat)).toMatchObject({
      charged_microusd: due.toString(),
      price_book: id,
      factor_permille: 1_500,
    });
  });

  it('would have paid what a what-if says, for each of its calls', async () => {
    const account = await admin.gateway.account();
    await speak(account);
    const image = { model: 'gen-image-2', prompt: 'A lighthouse' };
    await postJson(`${admin.gateway.url}/v1/images/generations`, account.headers, image);
    const wouldPay = async (terms: object): Promise<unknown> => {
      const id = await newBook(terms);
      const time = { from: 0, to: 4_000_000_000 };
      const answer = await admin.post(`/price-books/${id}/what-if`, time);
      expect(answer.status).toBe(200);
      const { data } = answer.json as { data: { account_id: string }[] };
      return data.find((row) => row.account_id === publicId(account));
    };
    const charged_microusd = '10600';
    expect(await wouldPay({ factor_permille: 333 })).toMatchObject({
      charged_microusd,
      would_charge_microusd: '3530',
    });
    const models = [{ id: 'aud-v4', price: { unit: 'code_point', micro_usd: 1 } }];
    expect(await wouldPay({ factor_permille: 2_000, models })).toMatchObject({
      charged_microusd,
      would_charge_microusd: '20005',
    });
    const id = await newBook({});
    expect((await admin.post(`/price-books/${id}/what-if`, {})).status).toBe(200);
    const wrong = admin.post(`/price-books/${id}/what-if`, { from: 2, to: 1 });
    await expectError(wrong, 400, 'invalid_request', 'to');
  });

  it('keeps its book from being deleted or made again, and cannot have an unknown one', async () => {
    const account = await admin.gateway.account();
    const id = await newBook({});
    await give(account, id);
    expect((await admin.get(`/price-books/${id}`)).json).toMatchObject({ accounts: 1 });
    await expectError(admin.ask('DELETE', `/price-books/${id}`), 409, 'conflict');
    await expectError(admin.post('/price-books', { id }), 409, 'conflict', 'id');
    await expectError(give(account, bookId()), 400, 'invalid_request', 'price_book');
    expect((await give(account, null)).json).toMatchObject({ price_book: null });
    expect((await admin.ask('DELETE', `/price-books/${id}`)).status).toBe(204);
  });
});
