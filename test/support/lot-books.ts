import type { DataSource } from 'typeorm';
import { LotOracle, type OpenHold, type Source } from './lot-oracle.js';

interface EntryRow {
  readonly position: string;
  readonly kind: 'credit' | 'correction' | 'charge' | 'expiry';
  readonly amount: string;
  readonly hold_id: string | null;
  readonly is_granted: boolean;
  readonly expires_us: string | null;
  readonly credit_position: string | null;
  readonly began_us: string | null;
  readonly at_us: string;
  readonly credits: (string | null)[] | null;
  readonly amounts: string[] | null;
}

const us = (column: string): string => `(extract(epoch FROM ${column}) * 1000000)::bigint`;

const ENTRIES = `
  SELECT e.position, e.kind, e.amount, e.hold_id, coalesce(e.credit_kind = 'granted', false) AS is_granted, e.credit_position,
         ${us('l.expires_at')} AS expires_us, ${us('coalesce(x.created_at, h.created_at)')} AS began_us,
         ${us('e.created_at')} AS at_us, s.credits, s.amounts
    FROM ledger_entry e
    LEFT JOIN credit_lot l ON l.account_id = e.account_id AND l.position = e.position
    LEFT JOIN ledger_entry_source s ON s.account_id = e.account_id AND s.position = e.position
    LEFT JOIN execution x ON x.account_id = e.account_id AND x.id = e.hold_id
    LEFT JOIN hold h ON h.account_id = e.account_id AND h.id = e.hold_id
   WHERE e.account_id = $1 AND e.position > $2 ORDER BY e.position`;

/** The books of an account, followed by a {@link LotOracle} entry by entry, and compared with what the schema noted. */
export class LotBooks {
  readonly oracle = new LotOracle();
  private until = '0';

  constructor(
    private readonly db: Pick<DataSource, 'query'>,
    private readonly accountId: string,
  ) {}

  /** Follows the new entries. Returns what the schema noted for each, and what the oracle expects. */
  async follow(): Promise<{ noted: Source[][]; expected: Source[][]; expired: Source[] }> {
    const rows = await this.db.query<EntryRow[]>(ENTRIES, [this.accountId, this.until]);
    this.until = rows.at(-1)?.position ?? this.until;
    const noted = rows.map(({ credits, amounts }) =>
      (credits ?? []).map((credit, i) => ({ credit, amount: BigInt(amounts?.[i] ?? 0) })),
    );
    const expected = rows.map((row) => this.sourcesOf(row));
    const expired = rows.flatMap(({ kind, credit_position: credit, amount }) =>
      kind === 'expiry' ? [{ credit, amount: -BigInt(amount) }] : [],
    );
    return { noted, expected, expired };
  }

  /** What is left of each credit with money, and what the account says that is in all; then the same by the oracle. */
  async remaining(): Promise<[unknown, unknown]> {
    const lots = await this.db.query<{ position: string; remaining: string }[]>(
      'SELECT position, remaining FROM credit_lot WHERE account_id = $1 ORDER BY position',
      [this.accountId],
    );
    const [account] = await this.db.query<{ posted: string; in_lots: string | null }[]>(
      'SELECT posted, in_lots FROM account WHERE id = $1',
      [this.accountId],
    );
    const posted = BigInt(account?.posted ?? -1);
    const { oracle } = this;
    return [
      {
        lots: lots.map(({ position, remaining }) => [position, BigInt(remaining)]),
        posted,
        paid: posted - BigInt(account?.in_lots ?? 0),
      },
      {
        lots: oracle.lots.map(({ position, remaining }) => [position, remaining]),
        posted: oracle.posted,
        paid: oracle.paid,
      },
    ];
  }

  /** Ends a credit now, as if its time had come. */
  async end(position: string): Promise<void> {
    const [rows] = await this.db.query<[{ expires_us: string }[], number]>(
      `UPDATE credit_lot SET expires_at = clock_timestamp(), look_at = clock_timestamp()
        WHERE account_id = $1 AND position = $2 RETURNING ${us('expires_at')} AS expires_us`,
      [this.accountId, position],
    );
    const lot = this.oracle.lots.find((known) => known.position === position);
    if (lot !== undefined) lot.expiresAt = BigInt(rows[0]?.expires_us ?? 0);
  }

  /** What is open now. */
  async open(): Promise<OpenHold[]> {
    const rows = await this.db.query<{ began_us: string; amount: string }[]>(
      `SELECT ${us('created_at')} AS began_us, held AS amount FROM execution WHERE account_id = $1 AND status = 'running'
       UNION ALL
       SELECT ${us('created_at')}, amount FROM hold WHERE account_id = $1 AND state = 'open'`,
      [this.accountId],
    );
    return rows.map(({ began_us: began, amount }) => ({
      began: BigInt(began),
      amount: BigInt(amount),
    }));
  }

  /** The time of the database, in microseconds. */
  async now(): Promise<bigint> {
    const [row] = await this.db.query<{ us: string }[]>(`SELECT ${us('clock_timestamp()')} AS us`);
    return BigInt(row?.us ?? 0);
  }

  private sourcesOf(row: EntryRow): Source[] {
    const { oracle } = this;
    const amount = BigInt(row.amount);
    const size = amount < 0n ? -amount : amount;
    const hold = row.hold_id ?? '';
    switch (row.kind) {
      case 'credit':
        oracle.credit(row.position, size, row.is_granted, bigintOf(row.expires_us));
        return [];
      case 'charge':
        return withLots(oracle.charge(hold, size, BigInt(row.began_us ?? 0)));
      case 'expiry':
        return oracle.expire(row.credit_position ?? '', size);
      case 'correction': {
        if (amount < 0n) return withLots(oracle.correct(size));
        const given = oracle.giveBack(hold, size);
        return oracle.hasTaken(hold) ? given : [];
      }
    }
  }
}

/** Nothing is noted of an entry that moved only paid money that does not expire. */
const withLots = (sources: Source[]): Source[] =>
  sources.some(({ credit }) => credit !== null) ? sources : [];
const bigintOf = (text: string | null): bigint | null => (text === null ? null : BigInt(text));
