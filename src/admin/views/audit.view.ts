import { ApiProperty } from '@nestjs/swagger';
import type { AuditReport } from '../../billing/audit/audit.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { formatMicroUsd } from '../../common/money/micro-usd.js';

/** One broken rule of the books. */
export class DiscrepancyView {
  @ApiProperty()
  account_id!: string;

  @ApiProperty({ example: 'posted is the sum of entries' })
  rule!: string;

  @ApiProperty({ example: '100 against 90' })
  detail!: string;
}

/** The result of an audit: sums over all accounts, in micro-USD. */
export class AuditView {
  @ApiProperty({ enum: ['audit'] })
  object!: 'audit';

  @ApiProperty()
  ok!: boolean;

  @ApiProperty()
  accounts!: number;

  @ApiProperty({ example: '0' })
  posted_microusd!: string;

  @ApiProperty({ example: '0' })
  entries_microusd!: string;

  @ApiProperty({ example: '0' })
  held_microusd!: string;

  @ApiProperty({ example: '0' })
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
