import assert from 'node:assert/strict';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Catalog } from '../../catalog/catalog.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { transaction } from '../../platform/database/transaction.js';
import { noAccount } from '../accounts/accounts.js';
import { type LedgerEntry, type LedgerEntryRow, ledgerEntryOf } from '../ledger-entry.js';
import { TOKEN_SUMS, type TokenSum } from '../token-sums.js';
import { musicUnitsOf, type UsageUnit } from '../usage/usage-units.js';
import { BALANCES, CHARGES, ENTRIES, FURTHER } from './statement-queries.js';
import type { Month } from './dto/statement.query.js';
import {
  type EntrySum,
  type ModelCharge,
  type StatementPart,
  STATEMENT_PARTS,
  type Statement,
} from './statement.js';

/** Entries of a kind that a statement lists at most. Its sums count all of them. */
export const MAX_LISTED_ENTRIES = 1_000;
/** Further entries that CSV reads at once. */
const PAGE_ROWS = 5_000;
/** What was charged for further models is summed in one line without a model. */
const MAX_MODELS = 1_000;

interface BalancesRow {
  readonly name: string;
  readonly has_begun: boolean;
  readonly opening: string;
  readonly closing: string;
  readonly p_from: string;
  readonly p_to: string;
  readonly held: string | null;
  readonly is_closed: boolean;
}

interface EntryRow extends LedgerEntryRow {
  readonly part: StatementPart;
  readonly count: number;
  readonly total: string;
  readonly total_tax: string | null;
}

interface ChargeRow extends Readonly<Record<TokenSum, string>> {
  readonly model: string;
  readonly calls: number;
  readonly charged: string;
  readonly unit: UsageUnit | null;
  readonly quantity: string;
}

/** Reads statements: balances and entries from the ledger, charges by model from the sums of usage, which outlive their calls. */
@Injectable()
export class Statements {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(Catalog) private readonly catalog: Pick<Catalog, 'music'>,
  ) {}

  /** Throws 404 `not_found` for an unknown account and for a month that has not begun. */
  read(accountId: string, month: Month): Promise<Statement> {
    const work = (manager: EntityManager) =>
      readIn(manager, accountId, month, musicUnitsOf(this.catalog));
    return transaction(this.dataSource, work, 'REPEATABLE READ');
  }

  /** The entries of a part that the statement does not list, in the order of posting, a page after the other. */
  async *unlisted(
    statement: Statement,
    part: StatementPart,
  ): AsyncGenerator<readonly LedgerEntry[]> {
    const { accountId, firstDay, endPosition } = statement;
    const { count, entries, lastPosition } = statement[part];
    let after = lastPosition;
    for (let left = count - entries.length; left > 0;) {
      const range = [accountId, firstDay, after, endPosition, part, PAGE_ROWS];
      const rows = await this.dataSource.query<LedgerEntryRow[]>(FURTHER, range);
      const last = rows.at(-1);
      assert(last, 'entries are never deleted');
      yield rows.map(ledgerEntryOf);
      after = last.position;
      left -= rows.length;
    }
  }
}

async function readIn(
  manager: EntityManager,
  accountId: string,
  { text, firstDay }: Month,
  musicUnits: string,
): Promise<Statement> {
  const [row] = await manager.query<BalancesRow[]>(BALANCES, [accountId, firstDay]);
  if (row === undefined) throw noAccount();
  if (!row.has_begun) {
    throw new GatewayError('not_found', `The month ${text} has not begun.`, { param: 'month' });
  }
  const range = [accountId, firstDay, row.p_from, row.p_to, MAX_LISTED_ENTRIES];
  const entries = await manager.query<EntryRow[]>(ENTRIES, range);
  const [opening, closing] = [BigInt(row.opening), BigInt(row.closing)];
  const sums = Object.fromEntries(
    STATEMENT_PARTS.map((part) => [part, sumOf(entries.filter((entry) => entry.part === part))]),
  ) as Readonly<Record<StatementPart, EntrySum>>;
  const moved = Object.values(sums).reduce((sum, { totalMicroUsd }) => sum + totalMicroUsd, 0n);
  const charged = opening + moved - closing;
  const models = await manager.query<ChargeRow[]>(CHARGES, [
    accountId,
    firstDay,
    MAX_MODELS,
    musicUnits,
  ]);
  return {
    accountId,
    accountName: row.name,
    firstDay,
    endPosition: row.p_to,
    month: text,
    isClosed: row.is_closed,
    openingMicroUsd: opening,
    closingMicroUsd: closing,
    heldMicroUsd: row.held === null ? null : BigInt(row.held),
    chargesMicroUsd: charged,
    charges: chargesOf(models, charged),
    ...sums,
    taxMicroUsd: taxOf(entries),
  };
}

function sumOf(rows: readonly EntryRow[]): EntrySum {
  return {
    totalMicroUsd: BigInt(rows[0]?.total ?? 0),
    count: rows[0]?.count ?? 0,
    entries: rows.map(ledgerEntryOf),
    lastPosition: rows.at(-1)?.position ?? '0',
  };
}

/** Of the credits; null where none tells its tax. */
function taxOf(rows: readonly EntryRow[]): bigint | null {
  const tax = rows.find(({ part }) => part === 'credits')?.total_tax ?? null;
  return tax === null ? null : BigInt(tax);
}

/** The lines of the models, and one for the rest of what the ledger says was charged. */
function chargesOf(rows: readonly ChargeRow[], charged: bigint): ModelCharge[] {
  const lines = rows.map((row) => ({
    model: row.model === '' ? null : row.model,
    calls: row.calls,
    quantity: row.unit === null ? null : Number(row.quantity),
    unit: row.unit,
    tokens: tokensOf((name) => Number(row[name])),
    amountMicroUsd: BigInt(row.charged),
  }));
  const rest = lines.reduce((left, { amountMicroUsd }) => left - amountMicroUsd, charged);
  const others = {
    model: null,
    calls: 0,
    quantity: null,
    unit: null,
    tokens: tokensOf(() => 0),
    amountMicroUsd: rest,
  };
  return rest === 0n ? lines : [...lines, others];
}

const tokensOf = (count: (name: TokenSum) => number) =>
  Object.fromEntries(TOKEN_SUMS.map((name) => [name, count(name)])) as Record<TokenSum, number>;
