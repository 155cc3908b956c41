import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { IDLE_TICKER } from '../../test/support/test-ledger.js';
import { Catalog } from './catalog.js';
import { CatalogChangeRecorder } from './catalog-change-recorder.js';
import { type CatalogChange, CatalogChanges } from './catalog-changes.js';
import type { ModelRow } from './model-row.js';
import { BUILT_IN_MODELS } from './models/built-in.models.js';

const FILE = '/etc/shim/catalog.json';
const [CHAT] = BUILT_IN_MODELS as readonly [ModelRow<'chat'>];
const SPEECH = BUILT_IN_MODELS.find(({ operation }) => operation === 'speech')!;

let database: TestDatabase;
let changes: CatalogChanges;

beforeAll(async () => {
  database = await createTestDatabase();
  changes = new CatalogChanges(database.dataSource);
});
beforeEach(() => database.dataSource.query('TRUNCATE catalog_change'));
afterAll(() => database.drop());

/** A process that has read these rows. */
function processWith(rows: readonly ModelRow[], catalogFile: string | undefined = FILE) {
  const catalog = new Catalog(rows, () => true);
  const { dataSource } = database;
  return {
    catalog,
    recorder: new CatalogChangeRecorder(catalog, dataSource, IDLE_TICKER, { catalogFile }),
  };
}

const priced = (id: string, input: number, more: object = {}): ModelRow => {
  const price = { ...CHAT.price, inputMicroUsdPerMillion: BigInt(input) };
  return { ...CHAT, id, price, ...more };
};

async function all(model?: string): Promise<CatalogChange[]> {
  const found: CatalogChange[] = [];
  let cursor: string | undefined;
  do {
    const page = await changes.list({ limit: 3, cursor, model });
    found.push(...page.items);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found.reverse();
}
const inputOf = (price: CatalogChange['price']) => price && Number(price.input_per_million);

describe('the changes of the catalog', () => {
  it('begin with every price; then they are what differs, with the file of the row', async () => {
    const { catalog, recorder } = processWith([CHAT, SPEECH]);
    await recorder.tick();
    await recorder.tick();
    expect(await all()).toMatchObject([
      { model: SPEECH.id, formerPrice: null, file: null, price: { unit: 'code_point' } },
      { model: CHAT.id, formerPrice: null, file: null },
    ]);
    catalog.replace([priced(CHAT.id, 7), SPEECH]);
    await recorder.tick();
    const [change, ...others] = (await all(CHAT.id)).slice(1);
    expect(others).toEqual([]);
    expect(change).toMatchObject({
      file: FILE,
      price: { input_per_million: '7', cached_input_per_million: '125000' },
      formerPrice: { input_per_million: '1250000' },
      changedAt: expect.any(Date),
    });
  });

  it('tell the end of a model that is disabled or gone, and its return', async () => {
    await processWith([CHAT, priced('own', 5)]).recorder.tick();
    await processWith([CHAT, { ...priced('own', 5), enabled: false }]).recorder.tick();
    await processWith([CHAT], undefined).recorder.tick();
    await processWith([CHAT, priced('own', 5)]).recorder.tick();
    const own = await all('own');
    expect(own.map(({ price, file }) => [inputOf(price), file])).toEqual([
      [5, FILE],
      [null, FILE],
      [5, FILE],
    ]);
  });

  it('are recorded once by many processes that read the same file together', async () => {
    const rows = Array.from({ length: 20 }, (_, index) => priced(`m${index}`, index));
    const processes = Array.from({ length: 5 }, () => processWith(rows));
    await Promise.all(processes.map(({ recorder }) => recorder.tick()));
    expect(await all()).toHaveLength(20);
  });

  it('are for each model its prices in turn, without repetitions, for any history', async () => {
    const catalogs = fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.nat(2)), {
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(catalogs, async (history) => {
        await database.dataSource.query('TRUNCATE catalog_change');
        const { catalog, recorder } = processWith([]);
        const wanted = new Map<string, (number | null)[]>();
        for (const prices of history) {
          catalog.replace(Object.entries(prices).map(([id, input]) => priced(id, input)));
          await recorder.tick();
          for (const id of ['a', 'b', 'c']) {
            const told = wanted.get(id) ?? [];
            const price = prices[id] ?? null;
            if ((told.at(-1) ?? null) !== price) wanted.set(id, [...told, price]);
          }
        }
        for (const id of ['a', 'b', 'c']) {
          const told = await all(id);
          expect(told.map(({ price }) => inputOf(price))).toEqual(wanted.get(id) ?? []);
          expect(told.map(({ formerPrice }) => inputOf(formerPrice))).toEqual(
            told.map((_, index) => inputOf(told[index - 1]?.price ?? null)),
          );
        }
      }),
      { numRuns: 25 },
    );
  });
});
