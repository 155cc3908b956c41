import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { DataSource } from 'typeorm';
import { auditBooks } from '../../src/billing/audit/usage-audit.js';
import { PAID } from '../../src/billing/credit-terms.js';
import { LedgerService } from '../../src/billing/ledger/ledger.service.js';
import { LotBooks } from '../support/lot-books.js';
import {
  BOOKS,
  CRASH_CHILD,
  CrashPrices,
  PRICED_MODEL,
  type RecordedBook,
  TIERS,
} from './crash-prices.js';
import { PlayedProvider, type ToldUsage } from './played-provider.js';

const LOOK_MS = 20;
const GRANTED = 5_000n;
/** What is credited at first ends after this; one credit never. */
const FIRST_ENDS_MS = [1_000, 6_000, null] as const;
/** So many faults are kept with their text. */
const MAX_FAULTS = 20;
/** Of each audit, and in all. */
const MAX_FINDINGS = 10;

/** What was compared with plain integers. */
export interface PricedCounts {
  /** Chats that were charged; those of them above the tier, with cached input, by a book, and cut at their hold. */
  readonly charges: number;
  readonly aboveTier: number;
  readonly cached: number;
  readonly byBook: number;
  readonly capped: number;
  /** Entries whose kinds of money were compared; those of them that are expiries. */
  readonly entries: number;
  readonly expiries: number;
}

interface ChargeRow {
  readonly id: string;
  readonly held: string;
  readonly charged: string;
  readonly entry: string;
  readonly request: string;
  readonly book: RecordedBook | null;
  readonly book_of_account: string | null;
}

const CHARGES = `
  SELECT x.id, x.held, x.charged, x.provider_request_id AS request, x.price_book AS book, a.price_book AS book_of_account,
         coalesce((SELECT -sum(e.amount) FROM ledger_entry e
                    WHERE e.account_id = x.account_id AND e.hold_id = x.id AND e.kind = 'charge'), 0) AS entry
    FROM execution x JOIN account a ON a.id = x.account_id
   WHERE x.model = '${PRICED_MODEL}' AND x.status = 'succeeded'`;

const EXPIRE =
  'SELECT lots_expire($1) AS written, (extract(epoch FROM now()) * 1000000)::bigint AS now_us';

/**
 * What priced calls cost and which kinds of money they took, beside the books, in plain integers. {@link faults} has what differs.
 */
export class CrashBooks {
  readonly faults: string[] = [];
  private readonly counts = {
    ...{ charges: 0, aboveTier: 0, cached: 0, byBook: 0, capped: 0 },
    ...{ entries: 0, expiries: 0 },
  };

  private constructor(
    private readonly dataSource: DataSource,
    readonly provider: PlayedProvider,
    readonly prices: CrashPrices,
    private readonly accounts: ReadonlyMap<string, LotBooks>,
  ) {}

  /** Gives the accounts price books (the last one has none) and money of both kinds; starts the provider. */
  static async open(dataSource: DataSource, accountIds: readonly string[]): Promise<CrashBooks> {
    const prices = new CrashPrices(dataSource);
    await prices.open();
    const ledger = new LedgerService(dataSource);
    for (const [index, accountId] of accountIds.entries()) {
      await dataSource.query('UPDATE account SET price_book = $2 WHERE id = $1', [
        accountId,
        BOOKS[index] ?? null,
      ]);
      for (const kind of ['paid', 'granted'] as const) {
        for (const endsMs of FIRST_ENDS_MS) {
          const expiresAt = endsMs === null ? null : new Date(Date.now() + endsMs);
          await ledger.credit({
            accountId,
            amountMicroUsd: GRANTED,
            idempotencyKey: `${kind} ${endsMs}`,
            reference: null,
            terms: { ...PAID, kind, expiresAt },
          });
        }
      }
    }
    const provider = await PlayedProvider.start();
    const books = accountIds.map((id) => [id, new LotBooks(dataSource, id)] as const);
    return new CrashBooks(dataSource, provider, prices, new Map(books));
  }

  /**
   * Compares the kinds of money of every entry, what is left of each credit, and what expires now beside the holds that are
   * open. To be called while no process lives.
   */
  async compareKinds(): Promise<void> {
    while (await this.isBusy()) await sleep(LOOK_MS);
    for (const [accountId, books] of this.accounts) {
      await this.follow(accountId, books);
      // One more credit ends, beside holds that began before.
      const granted = books.oracle.lots.find((lot) => lot.isGranted && lot.remaining > 0n);
      if (granted) await books.end(granted.position);
      const open = await books.open();
      const [row] = await this.dataSource.query<{ now_us: string }[]>(EXPIRE, [accountId]);
      const due = books.oracle.due(BigInt(row?.now_us ?? 0), open);
      const expired = await this.follow(accountId, books);
      this.compare(`account ${accountId}: expired`, expired, due);
      const [noted, expected] = await books.remaining();
      this.compare(`account ${accountId}: what is left`, noted, expected);
    }
  }

  /** Compares each charge with the price of what the provider told, once all calls have ended. */
  async compareCharges(): Promise<PricedCounts> {
    const used = new Set<string>();
    for (const row of await this.dataSource.query<ChargeRow[]>(CHARGES)) {
      const told = this.provider.told.get(row.request);
      if (told === undefined || used.has(row.request)) {
        this.fault(`call ${row.id}: the answer ${row.request} is not its own`);
        continue;
      }
      used.add(row.request);
      this.compareCharge(row, told);
    }
    return this.counts;
  }

  private compareCharge(row: ChargeRow, told: ToldUsage): void {
    const { id, book } = row;
    const held = BigInt(row.held);
    this.compare(`call ${id}: its price book`, book?.id ?? null, row.book_of_account);
    const due = this.prices.due(book, told);
    if (due === undefined) {
      this.fault(`call ${id}: nobody wrote its price, ${inspect(book)}`);
      return;
    }
    if (told.isWithinCap && due > held)
      this.fault(`call ${id}: its hold of ${held} is below ${due}`);
    const charge = due < held ? due : held;
    const booked = [BigInt(row.charged), BigInt(row.entry)];
    this.compare(`call ${id}: charged for ${inspect({ told, book }, WHOLE)}`, booked, [
      charge,
      charge,
    ]);
    this.counts.charges += 1;
    this.counts.aboveTier += Number(told.prompt > (TIERS[0]?.above ?? 0));
    this.counts.cached += Number((told.cached ?? 0) > 0);
    this.counts.byBook += Number(book !== null);
    this.counts.capped += Number(due > held);
  }

  private async follow(accountId: string, books: LotBooks): Promise<unknown> {
    const { noted, expected, expired } = await books.follow();
    this.counts.entries += noted.length;
    this.counts.expiries += expired.length;
    for (const [index, sources] of noted.entries()) {
      this.compare(`account ${accountId}: the kinds of an entry`, sources, expected[index]);
    }
    return expired;
  }

  /** Whether the database still works for a process that was killed. */
  private async isBusy(): Promise<boolean> {
    const [row] = await this.dataSource.query<{ busy: boolean }[]>(
      'SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = $1) AS busy',
      [CRASH_CHILD],
    );
    return row?.busy === true;
  }

  private compare(what: string, booked: unknown, expected: unknown): void {
    // As text, because arrays of the driver may have another prototype than those of a test.
    const [is, due] = [inspect(booked, WHOLE), inspect(expected, WHOLE)];
    if (is !== due) this.fault(`${what}: ${is}, not ${due}`);
  }

  private fault(text: string): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push(text);
  }
}

/** All of a value on one line. */
const WHOLE = { depth: null, breakLength: Infinity, maxArrayLength: null, maxStringLength: null };

/** Full audits of the books, as `audit --full` makes them. */
export class CrashAudits {
  readonly findings: string[] = [];
  count = 0;

  constructor(private readonly dataSource: DataSource) {}

  async run(): Promise<void> {
    const { ok, discrepancies } = await auditBooks(this.dataSource, 'full');
    this.count += 1;
    if (ok || this.findings.length >= MAX_FINDINGS) return;
    for (const { accountId, rule, detail } of discrepancies.slice(0, MAX_FINDINGS)) {
      this.findings.push(`account ${accountId}: ${rule}: ${detail}`);
    }
  }
}
