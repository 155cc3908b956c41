import { randomInt } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { PriceBookStore } from '../../src/catalog/price-books/price-book-store.js';
import { oracleOf, type Plain, type PlainTier, priceInFile } from '../support/token-prices.js';

/** The name of a killed process at the database. */
export const CRASH_CHILD = 'crash-child';
/** The most output tokens of the model, and the fewest that a fitted hold pays for. */
export const MOST_OUTPUT = 500;
export const FEWEST_OUTPUT = 16;
/** Characters of the longest prompt. A token is at least one. */
export const MOST_PROMPT = 3_000;
/** The model that is priced. */
export const PRICED_MODEL = 'gen-5';

/** What it costs where no book says otherwise, in micro-USD per million tokens: few calls cost whole micro-USD. */
export const LISTED: Plain = { input: 40_003, cached: 4_001, output: 400_009 };
export const TIERS: readonly PlainTier[] = [
  { above: 1_000, input: 80_011, cached: 8_009, output: 600_011 },
];

/** What the record of a call says of its price. */
export interface RecordedBook {
  readonly id: string;
  readonly version: number;
  readonly factorPermille: number;
}

interface Terms {
  readonly price: Plain;
  readonly tiers: readonly PlainTier[];
  readonly factorPermille: number;
}

const LIST: Terms = { price: LISTED, tiers: TIERS, factorPermille: 1_000 };
/** The books of the first accounts: one with a factor, and one with rows of its own, whose factor does not touch them. */
export const BOOKS = ['factor', 'rows'] as const;

/** What the books say, version by version, in plain numbers; and their changes while calls are under way. */
export class CrashPrices {
  private readonly versions = new Map<string, Terms>();
  private readonly store: PriceBookStore;

  constructor(dataSource: DataSource) {
    this.store = new PriceBookStore(dataSource);
  }

  /** The first versions of both books. */
  async open(): Promise<void> {
    for (const id of BOOKS) await this.write(id, 'create');
  }

  /** The next version of one of them. */
  change(): Promise<void> {
    return this.write(BOOKS[randomInt(BOOKS.length)] ?? 'factor', 'replace');
  }

  /** The price of so many tokens, rounded up once; undefined for a version that nobody wrote. */
  due(
    book: RecordedBook | null,
    used: { readonly prompt: number; readonly cached: number | null; readonly completion: number },
  ): bigint | undefined {
    const terms = book === null ? LIST : this.versions.get(`${book.id} ${book.version}`);
    if (terms === undefined || (book !== null && book.factorPermille !== terms.factorPermille))
      return undefined;
    const { input, cached, output } = oracleOf(terms.price, terms.tiers, used.prompt);
    const cachedTokens = used.cached ?? 0;
    const exact =
      BigInt(used.prompt - cachedTokens) * BigInt(input) +
      BigInt(cachedTokens) * BigInt(cached) +
      BigInt(used.completion) * BigInt(output);
    return (exact * BigInt(terms.factorPermille) + 999_999_999n) / 1_000_000_000n;
  }

  private async write(id: (typeof BOOKS)[number], how: 'create' | 'replace'): Promise<void> {
    const factorPermille = randomInt(1, 3_000);
    const own = {
      price: priceAtRandom(),
      tiers: [{ above: randomInt(1, 2_000), ...priceAtRandom() }],
    };
    const models =
      id === 'rows' ? [{ id: PRICED_MODEL, price: priceInFile(own.price, own.tiers) }] : [];
    const { newestVersion } = await this.store[how](id, { factorPermille, models });
    const terms = id === 'rows' ? { ...own, factorPermille: 1_000 } : { ...LIST, factorPermille };
    this.versions.set(`${id} ${newestVersion}`, terms);
  }
}

const priceAtRandom = (): Plain => ({
  input: randomInt(100_000),
  ...(randomInt(3) > 0 && { cached: randomInt(100_000) }),
  output: randomInt(1, 900_000),
});
