import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { MicroUsd } from '../../common/money/micro-usd.js';

/** What an account used and has in all. */
export interface AccountTotals {
  /** Charges less refunds. */
  readonly usedMicroUsd: MicroUsd;
  /** Available and held. */
  readonly postedMicroUsd: MicroUsd;
}

const TOTALS = `
  SELECT a.posted, coalesce(u.charged, 0) + coalesce((SELECT sum(charged) FROM usage_recent_v2($1)), 0) AS used
    FROM account a LEFT JOIN usage_account u ON u.account_id = a.id WHERE a.id = $1`;

const BETWEEN = `
  SELECT coalesce(sum(charged), 0) AS used FROM (
    SELECT charged FROM usage_day WHERE account_id = $1 AND day >= $2::date AND day < $3::date
    UNION ALL SELECT charged FROM usage_recent_v2($1) WHERE day >= $2::date AND day < $3::date) u`;

/** What one account used, as one amount. */
@Injectable()
export class AccountUsage {
  constructor(private readonly dataSource: DataSource) {}

  /** In all, on one snapshot with the balance; undefined for an unknown account. */
  async totals(accountId: string): Promise<AccountTotals | undefined> {
    const [row] = await this.dataSource.query<{ posted: string; used: string }[]>(TOTALS, [
      accountId,
    ]);
    return row && { usedMicroUsd: BigInt(row.used), postedMicroUsd: BigInt(row.posted) };
  }

  /** From the first day until before `toDay`, both dates of UTC: charges less what was given back in that time. */
  async between(accountId: string, fromDay: string, toDay: string): Promise<MicroUsd> {
    const [row] = await this.dataSource.query<{ used: string }[]>(BETWEEN, [
      accountId,
      fromDay,
      toDay,
    ]);
    return BigInt(row?.used ?? 0);
  }
}
