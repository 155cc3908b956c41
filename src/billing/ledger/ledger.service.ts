import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { MAX_MICRO_USD, type MicroUsd } from '../../common/money/micro-usd.js';
import { isTransient } from '../../platform/database/database-errors.js';
import { isOfLeavingAccount, leavingAccount, noAccount } from '../accounts/accounts.js';
import {
  ENTRY_SOURCE,
  type LedgerEntry,
  type LedgerEntryRow,
  ledgerEntryOf,
} from '../ledger-entry.js';
import { MAX_LOTS, PAID, termsAsParameters } from '../credit-terms.js';
import type { Page } from '../../common/paging/page.js';
import { entriesOf } from '../ledger-entries.js';
import type { CreditRequest, EntryQuery, HoldRequest, RefundRequest } from '../ledger-requests.js';

/** Where ledger statements run: a DataSource for a separate transaction, an EntityManager within a transaction. */
export interface Queryable {
  query<Rows>(sql: string, parameters: unknown[]): Promise<Rows>;
}

const ENTRY = `
  SELECT e.*, (SELECT a.name FROM account a WHERE a.id = e.account_id) AS account_name, c.owner AS hold_owner,
         e.created_at = $3::timestamptz AS is_new, granted_part, expired_entry_id FROM ledger_entry e
    LEFT JOIN ledger_entry c ON c.account_id = e.account_id AND c.hold_id = e.hold_id AND c.kind = 'charge'${ENTRY_SOURCE('e')}`;

type HoldOutcome = 'held' | 'insufficient' | 'conflict' | 'missing';
type ResolveOutcome = 'done' | 'conflict' | 'excess' | 'missing';
interface CreditRow {
  readonly outcome:
    'credited' | 'conflict' | 'other_terms' | 'overdrawn' | 'over' | 'crowded' | 'missing';
  readonly entry: string | null;
  /** The time of the transaction, to the microsecond; an entry that it wrote has it too. */
  readonly asked_at: string;
}

type WrittenRow = LedgerEntryRow & { readonly is_new: boolean };

interface RefundRow {
  readonly account_id: string;
  readonly outcome: 'refunded' | 'other_amount' | 'excess' | 'spent' | 'uncharged' | 'missing';
  readonly entry: string | null;
  /** What was left of the charge. */
  readonly rest: string | null;
  readonly asked_at: string;
}

/**
 * Reads entries and moves money: hold, settle, release, credit, refund (API: Money; decisions G-22, G-29). A hold is
 * resolved once; repeating the same resolution changes nothing. Methods with a Queryable commit with its transaction. Each
 * locks the account until then, so call them last in a transaction. Synchronous calls use `ExecutionLedger` instead.
 */
@Injectable()
export class LedgerService {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Entries of the account, newest first, or of all accounts, one after the other. All filters must hold, and a page reads at
   * most 10,000 of them.
   */
  entries(accountId: string | undefined, query: EntryQuery): Promise<Page<LedgerEntry>> {
    return entriesOf(this.dataSource, accountId, query);
  }

  /**
   * Adds the amount and returns its entry. The same key, amount and terms return the same entry again, as a replay. Throws 404
   * not_found, 400 invalid_request when the balance would exceed {@link MAX_MICRO_USD} and for an end that is over, 409
   * idempotency_conflict for the key with another amount or other terms, 409 conflict for a correction of more than the available
   * balance, for an account that moves to another cell, and for the credit above {@link MAX_LOTS}, and 503 service_unavailable when the database does not respond (retry with
   * the same key).
   */
  async credit(request: CreditRequest): Promise<LedgerEntry> {
    const { accountId, amountMicroUsd: amount } = request;
    assert(amount !== 0n, 'credit amount must not be zero');
    await this.checkBalanceLimit(request);
    const [row] = await this.orUnavailable(
      this.dataSource.query<CreditRow[]>(
        `SELECT *, now()::text AS asked_at FROM ledger_credit_v2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
        [
          accountId,
          amount.toString(),
          request.idempotencyKey,
          request.reference,
          request.reason ?? null,
          ...termsAsParameters(amount > 0n ? (request.terms ?? PAID) : null),
          MAX_LOTS,
        ],
      ),
    );
    if (row?.outcome === 'credited') return this.entry(accountId, row.entry, row.asked_at);
    throw creditRefusal(row?.outcome ?? 'missing');
  }

  /**
   * Refunds a part of the charge of an execution or task, or all that is left of it, and returns the entry. The same key and
   * amount return the same entry again, as a replay. Throws 404 not_found, 409 conflict when nothing is left and for an account that moves to another cell, 409 idempotency_conflict for
   * the key with another amount, 400 invalid_request for more than is left and when nothing was charged, and 503
   * service_unavailable when the database does not respond.
   */
  async refund({ of, id, amountMicroUsd, ...request }: RefundRequest): Promise<LedgerEntry> {
    const [row] = await this.orUnavailable(
      this.dataSource.query<RefundRow[]>(
        `SELECT c.account_id, r.*, now()::text AS asked_at FROM ${of} c, LATERAL ${of}_refund_v3(c.account_id, c.id, $2, $3, $4, $5) r WHERE c.id = $1`,
        [
          id,
          amountMicroUsd?.toString() ?? null,
          request.idempotencyKey ?? null,
          request.note,
          request.reason ?? null,
        ],
      ),
    );
    if (row?.outcome === 'refunded') return this.entry(row.account_id, row.entry, row.asked_at);
    throw refundRefusal(of, row);
  }

  /** Holds the amount if it is available. Throws 409 conflict if the id was used for another hold, 404 not_found. */
  async hold(db: Queryable, request: HoldRequest): Promise<'held' | 'insufficient'> {
    const { accountId, holdId, amountMicroUsd, owner } = request;
    assert(amountMicroUsd > 0n, 'hold amount must be positive');
    const [row] = await db.query<{ outcome: HoldOutcome }[]>(
      `SELECT ledger_hold($1, $2, $3, $4) AS outcome`,
      [accountId, holdId, amountMicroUsd.toString(), owner],
    );
    const outcome = row?.outcome;
    if (outcome === 'held' || outcome === 'insufficient') return outcome;
    throw outcome === 'conflict' ? resolvedOtherwise() : noAccount();
  }

  /**
   * Charges at most the held amount and frees the rest. Throws 409 conflict if the hold was resolved in another way.
   */
  async settle(db: Queryable, accountId: string, holdId: string, charge: MicroUsd): Promise<void> {
    assert(charge >= 0n, 'charge must not be negative');
    await this.resolve(db, accountId, holdId, charge);
  }

  /** Frees the held amount. Throws 409 conflict if the hold was settled. */
  async release(db: Queryable, accountId: string, holdId: string): Promise<void> {
    await this.resolve(db, accountId, holdId, null);
  }

  private async resolve(db: Queryable, accountId: string, holdId: string, charge: MicroUsd | null) {
    const [row] = await db.query<{ outcome: ResolveOutcome }[]>(
      `SELECT ledger_resolve($1, $2, $3) AS outcome`,
      [accountId, holdId, charge?.toString() ?? null],
    );
    const outcome = row?.outcome;
    if (outcome === 'conflict') throw resolvedOtherwise();
    assert(outcome === 'done', `hold ${holdId} cannot be resolved: ${outcome ?? 'no row'}`);
  }

  /** Refuses a credit above {@link MAX_MICRO_USD}. Two concurrent credits may exceed it, but stay far below the column's limit. */
  private async checkBalanceLimit({
    accountId,
    amountMicroUsd,
    idempotencyKey,
  }: CreditRequest): Promise<void> {
    if (amountMicroUsd < 0n) return;
    const [full] = await this.orUnavailable(
      this.dataSource.query<object[]>(
        `SELECT FROM account a WHERE a.id = $1 AND a.posted + $2::bigint > $3::bigint AND NOT EXISTS (
           SELECT FROM ledger_entry e WHERE e.account_id = a.id AND e.idempotency_key = $4)`,
        [accountId, amountMicroUsd.toString(), MAX_MICRO_USD.toString(), idempotencyKey],
      ),
    );
    if (!full) return;
    throw new GatewayError(
      'invalid_request',
      `The account would hold more than ${MAX_MICRO_USD} micro-USD.`,
      { param: 'amount_microusd' },
    );
  }

  /** The entry that a transaction wrote, or found: then its time is another. */
  private async entry(
    accountId: string,
    position: string | null,
    askedAt: string,
  ): Promise<LedgerEntry> {
    const [row] = await this.orUnavailable(
      this.dataSource.query<WrittenRow[]>(`${ENTRY} WHERE e.account_id = $1 AND e.position = $2`, [
        accountId,
        position,
        askedAt,
      ]),
    );
    assert(row !== undefined, 'the ledger entry was not found');
    return { ...ledgerEntryOf(row), ...(row.is_new ? {} : { isReplay: true }) };
  }

  private async orUnavailable<Answer>(query: Promise<Answer>): Promise<Answer> {
    try {
      return await query;
    } catch (cause) {
      if (isOfLeavingAccount(cause)) throw leavingAccount();
      if (!isTransient(cause)) throw cause;
      throw new GatewayError('service_unavailable', 'The ledger cannot be reached right now.', {
        retryAfterSeconds: 1,
        cause,
      });
    }
  }
}

const resolvedOtherwise = (): GatewayError =>
  new GatewayError('conflict', 'The hold was already resolved in another way.');

/** Why nothing was given back. */
function refundRefusal(of: RefundRequest['of'], row: RefundRow | undefined): GatewayError {
  const { outcome, rest } = row ?? {};
  switch (outcome) {
    case 'spent':
      return new GatewayError('conflict', 'Nothing is left of the charge to give back.');
    case 'other_amount':
      return new GatewayError('idempotency_conflict', 'The key was used with another amount.');
    case 'excess': {
      const message = `amount_microusd is more than what is left of the charge: ${rest}.`;
      return new GatewayError('invalid_request', message, { param: 'amount_microusd' });
    }
    case 'uncharged': {
      const message = `Nothing was charged for the ${of}.`;
      return new GatewayError('invalid_request', message, { param: 'id' });
    }
    case 'refunded':
    case 'missing':
    case undefined:
      return new GatewayError('not_found', `No such ${of}.`, { param: 'id' });
  }
}

/** Why an amount was not credited. */
function creditRefusal(outcome: Exclude<CreditRow['outcome'], 'credited'>): GatewayError {
  switch (outcome) {
    case 'conflict':
      return new GatewayError('idempotency_conflict', 'The key was used with another amount.');
    case 'other_terms': {
      const message =
        'The key was used with another credit_kind, expires_at, payment_reference, currency or tax_microusd.';
      return new GatewayError('idempotency_conflict', message);
    }
    case 'overdrawn':
      return new GatewayError('conflict', 'The correction is more than the available balance.');
    case 'over': {
      const message = 'expires_at must be later than now.';
      return new GatewayError('invalid_request', message, { param: 'expires_at' });
    }
    case 'crowded': {
      const message = `The account has ${MAX_LOTS} credits that were granted or expire, and are not spent.`;
      return new GatewayError('conflict', message);
    }
    case 'missing':
      return noAccount();
  }
}
