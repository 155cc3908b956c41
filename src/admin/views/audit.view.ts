import { ApiProperty } from '@nestjs/swagger';
import type { AuditReport } from '../../billing/audit/audit.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { formatMicroUsd } from '../../common/money/micro-usd.js';

/** One broken rule of the books. */
export class DiscrepancyView {
  @ApiProperty({ description: 'Id of the account with the fault' })
  account_id!: string;

  @ApiProperty({ example: 'posted is the sum of entries', description: 'The rule that is broken' })
  rule!: string;

  @ApiProperty({ example: '100 against 90', description: 'What differs' })
  detail!: string;
}

/** The result of an audit: sums over all accounts, in micro-USD. */
export class AuditView {
  @ApiProperty({ enum: ['audit'], description: 'Says what kind of object this is' })
  object!: 'audit';

  @ApiProperty({ description: 'Whether the audit found no fault' })
  ok!: boolean;

  @ApiProperty({ description: 'How many accounts were checked' })
  accounts!: number;

  @ApiProperty({ example: '0', description: 'Micro-USD of all balances' })
  posted_microusd!: string;

  @ApiProperty({
    example: '0',
    description: 'Micro-USD of all ledger entries; equal to the balances',
  })
  entries_microusd!: string;

  @ApiProperty({ example: '0', description: 'Micro-USD that the accounts count as held' })
  held_microusd!: string;

  @ApiProperty({ example: '0', description: 'Micro-USD of all open holds; equal to what is held' })
  open_holds_microusd!: string;

  @ApiProperty({ type: [DiscrepancyView], description: 'The first 100' })
  discrepancies!: DiscrepancyView[];
}

/** The result as operators read it. */
export function viewAudit(report: AuditReport): AuditView {
  return {
    object: 'audit',
    ok: report.ok,
    accounts: report.accounts,
    posted_microusd: formatMicroUsd(report.postedMicroUsd),
    entries_microusd: formatMicroUsd(report.entriesMicroUsd),
    held_microusd: formatMicroUsd(report.heldMicroUsd),
    open_holds_microusd: formatMicroUsd(report.openHoldsMicroUsd),
    discrepancies: report.discrepancies.map(({ accountId, rule, detail }) => ({
      account_id: toPublicId('acct', accountId),
      rule,
      detail,
    })),
  };
}
