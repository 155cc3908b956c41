import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { CreditKind } from '../credit-terms.js';
import { type Account, type AccountRow, accountOf } from './account.js';

/** What is left of the credits of one kind that expire at the same time. */
export interface AccountCredit {
  readonly kind: CreditKind;
  readonly remainingMicroUsd: MicroUsd;
  /** Null: never. */
  readonly expiresAt: Date | null;
}

/** An account and what its balance consists of, in the order of spending; together it is what is posted. */
export interface AccountWithCredits extends Account {
  readonly credits: readonly AccountCredit[];
}

/** The columns of {@link CREDITS_OF_ACCOUNT}. */
export interface CreditsRow extends AccountRow {
  readonly credits: readonly {
    readonly kind: CreditKind;
    readonly remaining: string;
    readonly expires_at: string | null;
  }[];
}

/** The account $1. Credits are at most as many as lots, `MAX_LOTS`, and one of other paid money. */
export const CREDITS_OF_ACCOUNT = `
  SELECT a.*, (
    SELECT coalesce(json_agg(json_build_object('kind', c.kind, 'remaining', c.remaining::text, 'expires_at', c.expires_at)
                             ORDER BY c.kind, c.expires_at), '[]')
      FROM (SELECT CASE WHEN l.is_granted THEN 'granted' ELSE 'paid' END AS kind, l.expires_at, sum(l.remaining) AS remaining
              FROM credit_lot l WHERE l.account_id = a.id AND NOT l.is_empty GROUP BY 1, 2
            UNION ALL
            SELECT 'paid', NULL, a.posted - coalesce(a.in_lots, 0) WHERE a.posted > coalesce(a.in_lots, 0)) c) AS credits
    FROM account a WHERE a.id = $1`;

/** The account in a row. */
export function withCreditsOf(row: CreditsRow): AccountWithCredits {
  return {
    ...accountOf(row),
    credits: row.credits.map(({ kind, remaining, expires_at: expiresAt }) => ({
      kind,
      remainingMicroUsd: BigInt(remaining),
      expiresAt: expiresAt === null ? null : new Date(expiresAt),
    })),
  };
}
