import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { auditBooks } from '../../src/billing/audit/usage-audit.js';
import type { ExecutionStart } from '../../src/billing/calls/execution-commands.js';
import { LedgerService } from '../../src/billing/ledger/ledger.service.js';
import { CHAT_MODELS } from '../../src/catalog/models/chat.models.js';
import type { ModelRow } from '../../src/catalog/model-row.js';
import { bookedRow, type PriceBookVersion } from '../../src/catalog/price-books/price-book.js';
import { basisOf } from '../../src/text/charge-basis.js';
import { chargeOf, quoteOf } from '../../src/text/text-quote.js';
import type { TextRequest } from '../../src/text/text-request.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import {
  accountsOf,
  balanceOf,
  FAILURE,
  ledgerOf,
  startOf,
  successOf,
  type TestLedger,
} from '../support/test-ledger.js';
import { priceInFile, ruleOf } from '../support/token-prices.js';
import {
  FEWEST_TOKENS,
  Left,
  market,
  type Market,
  MOST_TOKENS,
  type PlainCall,
  PriceOracle,
  pricesOf,
  tokensOfPlainCall,
} from './priced-call-oracle.js';

/** Looking for the smallest market that fails takes long. */
const TIMEOUT_MS = 300_000;
/** By hand more, with `MONEY_RUNS`. */
const RUNS = Number(process.env.MONEY_RUNS ?? 15);

let database: TestDatabase;
let processes: [TestLedger, TestLedger];
beforeAll(async () => {
  database = await createTestDatabase();
  const { dataSource } = database;
  processes = [ledgerOf(dataSource), ledgerOf(dataSource)];
});
afterAll(() => database.drop());

const query = <Row>(sql: string, values: unknown[]) =>
  database.dataSource.query<Row[]>(sql, values);

/** A version of a price book, with a price of its own for the model where the market has one. */
function versionOf(book: NonNullable<Market['books'][0]>, id: string): PriceBookVersion {
  const models = 'price' in book ? [{ id, price: priceInFile(book.price, book.tiers) }] : [];
  const [validFrom, createdAt] = [new Date(0), new Date(0)];
  const { factorPermille } = book;
  return { bookId: 'random', version: 1, factorPermille, models, validFrom, createdAt };
}

/** An account of the market, with its keys, and the oracle beside it. */
class Customer {
  readonly oracle: PriceOracle;
  readonly left: Left;
  private readonly row: ModelRow<'chat'>;
  private readonly keys = { limited: randomUUID(), made: randomUUID(), free: randomUUID() };

  constructor(
    readonly accountId: string,
    private readonly terms: Market,
    private readonly index: 0 | 1,
  ) {
    const { price, tiers, books, paid, granted, keyLimits, runLimits } = terms;
    this.oracle = new PriceOracle(...pricesOf(terms, index));
    this.left = new Left(
      BigInt(paid[index]) + BigInt(granted[index]),
      BigInt(keyLimits[index]),
      runLimits,
    );
    const [row] = CHAT_MODELS;
    const listed: ModelRow<'chat'> = {
      ...row,
      minOutputTokens: FEWEST_TOKENS,
      limits: { ...row.limits, maxOutputTokens: MOST_TOKENS },
      price: ruleOf(price, tiers),
    };
    const book = books[index];
    this.row =
      book === null ? listed : (bookedRow(listed, versionOf(book, row.id)) as typeof listed);
  }

  async open(): Promise<void> {
    const { paid, granted, keyLimits } = this.terms;
    const ledger = new LedgerService(database.dataSource);
    for (const [kind, amounts] of [
      ['paid', paid],
      ['granted', granted],
    ] as const) {
      if (amounts[this.index] === 0) continue;
      await ledger.credit({
        accountId: this.accountId,
        amountMicroUsd: BigInt(amounts[this.index]),
        idempotencyKey: kind,
        reference: null,
        terms: { kind, expiresAt: null, paymentReference: null, currency: null, taxMicroUsd: null },
      });
    }
    const limit = keyLimits[this.index];
    const insert = `
      INSERT INTO api_key (id, account_id, prefix, hash, created_at, scopes, maker_id, spend_limit, spend_limit_period,
                           spend_limit_since)
        VALUES ($1, $2, 'sk', $3, now(), $4, $5, $6, $7, now() - interval '4 seconds')`;
    const { limited, made, free } = this.keys;
    const plain = '{read,call}';
    for (const [id, scopes, maker, amount] of [
      [limited, '{read,call,manage}', null, limit],
      [made, plain, limited, null],
      [free, plain, null, null],
    ] as const) {
      const period = amount === null ? null : 'total';
      await query(insert, [id, this.accountId, randomBytes(32), scopes, maker, amount, period]);
    }
  }

  private startOf(call: PlainCall): ExecutionStart {
    const asked = {
      request: {},
      promptTokens: call.promptBound,
      maxTokens: call.cap ?? undefined,
    };
    const { hold } = quoteOf(this.row, asked as TextRequest);
    const limit = call.run === null ? null : this.terms.runLimits[call.run];
    return {
      ...startOf(this.accountId, hold.amountMicroUsd),
      model: this.row.id,
      endpoint: '/v1/chat/completions',
      apiKeyId: this.keys[call.key],
      isCapped: call.key !== 'free',
      fit: hold.fit,
      priceBook: this.row.priceBook,
      ...(call.run !== null && {
        run: {
          id: `run ${call.run}`,
          ...(limit != null && { limitMicroUsd: BigInt(limit) }),
        },
      }),
    };
  }

  /** Makes the call. `isAlone`: nothing else is under way, so what it holds is known. */
  async call(call: PlainCall, { executions }: TestLedger, isAlone: boolean): Promise<void> {
    const start = this.startOf(call);
    const room = this.left.roomOf(call);
    const begun = await executions.begin(start);
    const { need, held } = this.oracle.hold(call, room);
    if (isAlone) expect(begun.outcome === 'held').toBe(held <= room);
    if (begun.outcome !== 'held') {
      expect(['insufficient', 'over_limit', 'over_run']).toContain(begun.outcome);
      if ('availableMicroUsd' in begun) {
        expect(begun.availableMicroUsd < need).toBe(true);
        if (isAlone) expect(begun.availableMicroUsd).toBe(room);
      }
      return;
    }
    if (isAlone) expect(begun.amountMicroUsd).toBe(held);
    expect(begun.amountMicroUsd).toBeGreaterThanOrEqual(need);
    await this.end(call, start, begun.amountMicroUsd, executions);
  }

  private async end(
    call: PlainCall,
    start: ExecutionStart,
    held: bigint,
    executions: TestLedger['executions'],
  ): Promise<void> {
    if (call.fails) return executions.fail(start, FAILURE);
    const { prompt, cached, write, write1h, image, completion } = tokensOfPlainCall(call);
    const usage = {
      promptTokens: prompt,
      completionTokens: completion,
      cachedTokens: cached,
      cacheWriteTokens: write,
      cacheWrite1hTokens: write1h,
      imageTokens: image,
      reasoningTokens: null,
    };
    const { chargedMicroUsd, isCapped } = chargeOf(this.row, usage, held);
    expect(chargedMicroUsd).toBe(this.oracle.charge(call, held));
    const basis = basisOf(this.row, { ...usage, isEstimated: false });
    await executions.succeed(start, { ...successOf(chargedMicroUsd), isCapped, basis });
    this.left.spend(call, chargedMicroUsd);
  }

  /** The counters of the database are those of the oracle. */
  async expectSound(): Promise<void> {
    const { money, spentByKey, spentByRun } = this.left;
    expect(await balanceOf(database.dataSource, this.accountId)).toEqual([money, 0n]);
    const granted = BigInt(this.terms.granted[this.index]);
    const spent = BigInt(this.terms.paid[this.index]) + granted - money;
    const lots = await query<{ left: string }>(
      'SELECT coalesce(sum(remaining), 0) AS left FROM credit_lot WHERE account_id = $1 AND is_granted',
      [this.accountId],
    );
    expect(BigInt(lots[0]?.left ?? 0)).toBe(spent > granted ? 0n : granted - spent);
    const [keys] = await query<{ spent: string }>(
      `SELECT coalesce((SELECT spent FROM key_spend WHERE account_id = $1 AND api_key_id = $2), 0)
              + maker_spent($1, $2, '-infinity') AS spent`,
      [this.accountId, this.keys.limited],
    );
    expect(BigInt(keys?.spent ?? 0)).toBe(spentByKey);
    expect(spentByKey).toBeLessThanOrEqual(BigInt(this.terms.keyLimits[this.index]));
    const runs = await query<{ id: string; spent: string; held: string }>(
      'SELECT id, spent, held FROM run WHERE account_id = $1',
      [this.accountId],
    );
    for (const { id, spent: counted, held } of runs) {
      const index = Number(id.slice('run '.length));
      expect([BigInt(counted), held]).toEqual([spentByRun.get(index) ?? 0n, '0']);
      const limit = this.terms.runLimits[index];
      if (limit != null) expect(BigInt(counted)).toBeLessThanOrEqual(BigInt(limit));
    }
  }
}

it(
  'charges, holds, kinds, keys and runs of random price lists and books are what plain integers say, with callers at once',
  async () => {
    await fc.assert(
      fc.asyncProperty(market, async (terms) => {
        const customers = await Promise.all(
          ([0, 1] as const).map(async (index) => {
            const { id } = await accountsOf(database.dataSource).create('customer');
            return new Customer(id, terms, index);
          }),
        );
        for (const customer of customers) await customer.open();
        for (const wave of terms.waves) {
          await Promise.all(
            wave.map((call, n) =>
              customers[call.account]!.call(call, processes[n % 2]!, wave.length === 1),
            ),
          );
        }
        for (const customer of customers) await customer.expectSound();
      }),
      { numRuns: RUNS },
    );
    const report = await auditBooks(database.dataSource, 'full');
    expect(report).toMatchObject({ ok: true, discrepancies: [] });
  },
  TIMEOUT_MS,
);
