import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { fundedAccount } from '../../test/support/test-ledger.js';
import { Catalog } from '../catalog/catalog.js';
import { BUILT_IN_MODELS } from '../catalog/models/built-in.models.js';
import { PriceBookStore } from '../catalog/price-books/price-book-store.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';
import { DAY_MS } from '../common/time/spans.js';
import { PriceWhatIf } from './price-what-if.js';

const MODEL = 'aud-v4';
const LISTED = 120;
/** What one character cost when the call was made: less than the list says now. */
const PRICE_THEN = 100;
const CHARACTERS = 5;
const HALF_PERMILLE = 500;
const OWN = { id: MODEL, price: { unit: 'code_point' as const, micro_usd: PRICE_THEN } };

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** A call of the past by the first version of a book, which was deleted since. */
async function callByBook(account: string, book: string): Promise<void> {
  await database.dataSource.query(
    `INSERT INTO execution (account_id, id, held, model, endpoint, status, completed_at, charged, unit, quantity, unit_price,
                            price_book)
       VALUES ($1, $2, $3, $4, '/v1/audio/speech', 'succeeded', now(), $3, 'code_point', $5, $6, $7)`,
    [
      ...[account, uuidV7(Date.now()), PRICE_THEN * CHARACTERS, MODEL, String(CHARACTERS)],
      ...[JSON.stringify(String(PRICE_THEN)), { id: book, version: 1, factorPermille: 1_000 }],
    ],
  );
}

describe('what a call by a book of the factor 1000 would have cost', () => {
  it.each([
    ['is the part of the price of its time where it paid the listed price', 1_000, [], PRICE_THEN],
    ['is the part of the price of the list where it paid one of its own', 1_000, [OWN], LISTED],
    [
      'is the part of the price of the list where the book is another of that name',
      900,
      [],
      LISTED,
    ],
    ['is the part of the price of the list where no such book is known', null, [], LISTED],
  ])('%s', async (what, factorPermille, models, unitPrice) => {
    const { dataSource } = database;
    const store = new PriceBookStore(dataSource);
    const book = `book-${String(factorPermille)}-${String(models.length)}`;
    if (factorPermille !== null) await store.create(book, { factorPermille, models });
    const account = await fundedAccount(dataSource, 10_000n, what);
    await callByBook(account, book);
    if (factorPermille !== null) await store.delete(book);
    const { current } = await store.create(`${book}-half`, {
      factorPermille: HALF_PERMILLE,
      models: [],
    });
    const whatIf = new PriceWhatIf(dataSource, new Catalog(BUILT_IN_MODELS, () => true));
    const [from, to] = [new Date(Date.now() - DAY_MS), new Date(Date.now() + DAY_MS)];
    const paid = await whatIf.of(current, from, to);
    expect(paid.filter(({ accountId }) => accountId === account)).toEqual([
      {
        accountId: account,
        chargedMicroUsd: BigInt(PRICE_THEN * CHARACTERS),
        wouldChargeMicroUsd: BigInt((unitPrice * CHARACTERS * HALF_PERMILLE) / 1_000),
      },
    ]);
  });
});
