import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { Page } from '../../common/paging/page.js';
import { Clock } from '../../common/time/clock.js';
import { isCheckViolation } from '../../platform/database/database-errors.js';
import { transaction } from '../../platform/database/transaction.js';
import { type Account, type AccountRow, accountOf } from './account.js';
import {
  type AccountWithCredits,
  CREDITS_OF_ACCOUNT,
  type CreditsRow,
  withCreditsOf,
} from './account-credits.js';
import { readBurn } from './account-burn.js';
import { listAccounts, type ListedAccount } from './account-list.js';
import type { AccountChanges, AccountQuery } from '../ledger-requests.js';

/** `real` money pays for calls to providers, `play` money for calls to the sandbox (decisions G-95, G-110). */
export type MoneyKind = 'real' | 'play';

/** Key and reference of the credit that the first start adds. They identify the demo account. */
export const DEMO_CREDIT = { idempotencyKey: 'demo', reference: 'demo credit' } as const;

/** Creates, finds and changes accounts. `LedgerService` moves their money. */
@Injectable()
export class Accounts {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /** Creates an account with a balance of 0. All its credits are money of this kind (decision G-110). */
  async create(name: string, money: MoneyKind = 'real'): Promise<Account> {
    const [row] = await this.dataSource.query<AccountRow[]>(
      `INSERT INTO account (id, name, play_money) VALUES ($1, $2, $3) RETURNING *`,
      [uuidV7(this.clock.nowMs()), name, money === 'play'],
    );
    assert(row !== undefined, 'INSERT … RETURNING returned no row');
    return accountOf(row);
  }

  /** The account; 404 not_found. */
  async get(id: string): Promise<Account> {
    const [row] = await this.dataSource.query<AccountRow[]>(`SELECT * FROM account WHERE id = $1`, [
      id,
    ]);
    if (row === undefined) throw noAccount();
    return accountOf(row);
  }

  /** The account with what its balance consists of; 404 not_found. */
  async withCredits(id: string): Promise<AccountWithCredits> {
    const [row] = await this.dataSource.query<CreditsRow[]>(CREDITS_OF_ACCOUNT, [id]);
    if (row === undefined) throw noAccount();
    return withCreditsOf(row);
  }

  /** The account that the first start created, found by its demo credit. Undefined if there is none. */
  async demo(): Promise<Account | undefined> {
    const [row] = await this.dataSource.query<AccountRow[]>(
      `SELECT * FROM account a
        WHERE play_money AND EXISTS (
          SELECT FROM ledger_entry e WHERE e.account_id = a.id AND e.idempotency_key = $1 AND e.reference = $2)
        ORDER BY id LIMIT 1`,
      [DEMO_CREDIT.idempotencyKey, DEMO_CREDIT.reference],
    );
    return row && accountOf(row);
  }

  /** Number of accounts with play money. */
  async countWithPlayMoney(): Promise<number> {
    const [row] = await this.dataSource.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM account WHERE play_money`,
    );
    return row?.count ?? 0;
  }

  /** What an account spends per day; see {@link readBurn}. */
  burn(id: string): Promise<MicroUsd> {
    return readBurn(this.dataSource, id);
  }

  /** A page of accounts; see {@link listAccounts}. */
  list(query: AccountQuery): Promise<Page<ListedAccount>> {
    return listAccounts(this.dataSource, query);
  }

  /** Ids of accounts with exactly this name, the oldest first. */
  async idsOfName(name: string, limit: number): Promise<string[]> {
    const rows = await this.dataSource.query<{ readonly id: string }[]>(
      `SELECT id FROM account WHERE lower(name) = lower($1) AND name = $1 ORDER BY id LIMIT $2`,
      [name, limit],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Renames, disables or enables an account, gives it a price book, sets its mark of a low balance, or has its answers kept. Throws 404 not_found, and 400 invalid_request for an
   * unknown book, and 409 conflict for an account that moves to another cell. Every process sees the change within 2 s, as for changed keys.
   */
  async update(id: string, changes: AccountChanges): Promise<Account> {
    const { name = null, isDisabled = null, priceBook, lowBalanceMicroUsd: low } = changes;
    const { keepsAnswers = null } = changes;
    return transaction(this.dataSource, async (manager) => {
      if (typeof priceBook === 'string') await keepBook(manager, priceBook);
      const [rows] = await manager.query<[AccountRow[], number]>(
        `UPDATE account SET name = coalesce($2, name), disabled = coalesce($3, disabled),
                keep_answers = coalesce($8, keep_answers),
                price_book = CASE WHEN $4 THEN $5 ELSE price_book END,
                low_balance = CASE WHEN $6 THEN $7 ELSE low_balance END, 
                is_low = is_low AND NOT ($6 AND $7 IS DISTINCT FROM low_balance)
          WHERE id = $1 AND leaving IS NULL RETURNING *`,
        [
          ...[id, name, isDisabled, priceBook !== undefined, priceBook ?? null],
          ...[low !== undefined, low?.toString() ?? null, keepsAnswers],
        ],
      );
      const [row] = rows;
      if (row === undefined) throw await whyNot(manager, id);
      if (isDisabled !== null || priceBook !== undefined || keepsAnswers !== null) {
        await manager.query(`UPDATE api_key SET changed_at = now() WHERE account_id = $1`, [id]);
      }
      return accountOf(row);
    });
  }
}

/** Keeps the book from being deleted until the end of the transaction. Throws 400 invalid_request for an unknown one. */
async function keepBook(manager: EntityManager, id: string): Promise<void> {
  const found = await manager.query<unknown[]>(
    'SELECT id FROM price_book WHERE id = $1 FOR SHARE',
    [id],
  );
  if (found.length > 0) return;
  const message = 'price_book is no price book; GET /admin/price-books lists them.';
  throw new GatewayError('invalid_request', message, { param: 'price_book' });
}

/** Why an account could not be changed: 404 not_found, or 409 conflict for one that moves to another cell. */
async function whyNot(manager: EntityManager, id: string): Promise<GatewayError> {
  const found = await manager.query<unknown[]>('SELECT FROM account WHERE id = $1', [id]);
  return found.length === 0 ? noAccount() : leavingAccount();
}

/** Whether the database refused to move money of an account that moves to another cell, or has moved. */
export const isOfLeavingAccount = (error: unknown): boolean =>
  isCheckViolation(error, 'account_that_leaves_rests');

/** 409 conflict. */
export const leavingAccount = (): GatewayError =>
  new GatewayError('conflict', 'The account moves to another cell, or has moved.');

/** 404 not_found. */
export const noAccount = (): GatewayError => new GatewayError('not_found', 'No such account.');
