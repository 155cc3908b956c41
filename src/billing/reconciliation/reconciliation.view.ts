import { toPublicId } from '../../common/ids/public-id.js';
import type { KnownRow } from './reconciliation-statements.js';
import type { Reconciliation } from './vendor-reconciliation.js';

const SECOND_MS = 1_000;

/** What a vendor bills beside what we know, for the command line. */
export function viewReconciliation(provider: string, found: Reconciliation): object {
  const { sums, lines, badLines } = found;
  return {
    object: 'vendor_reconciliation',
    provider,
    from: secondsOf(sums.from_time),
    to: secondsOf(sums.to_time),
    lines,
    requests: Number(sums.requests),
    billed_in_several_lines: Number(sums.repeated),
    billed_usd: sums.billed_usd,
    matched: {
      requests: Number(sums.matched),
      billed_usd: sums.matched_usd,
      cost_microusd: sums.matched_cost,
    },
    differing: { requests: Number(sums.differing), shown: found.differing.map(viewKnown) },
    unknown_to_us: {
      requests: Number(sums.unknown_to_us),
      billed_usd: sums.unknown_to_us_usd,
      shown: found.unknownToUs.map(viewKnown),
    },
    unknown_to_them: {
      requests: Number(sums.unknown_to_them),
      cost_microusd: sums.unknown_to_them_cost,
      shown: found.unknownToThem.map(viewKnown),
    },
    without_request_id: {
      calls: Number(sums.without_request_id),
      cost_microusd: sums.without_request_id_cost,
    },
    bad_lines: {
      count: badLines.count,
      shown: badLines.shown.map(({ line, says }) => `line ${line} ${says}`),
    },
  };
}

const secondsOf = (time: Date | null): number | null =>
  time && Math.floor(time.getTime() / SECOND_MS);

function viewKnown({ request_id, line, id, is_task: isTask, billed_usd, cost }: KnownRow): object {
  return {
    request_id,
    ...(line !== null && { line: Number(line) }),
    ...(id !== null && { id: toPublicId(isTask === true ? 'task' : 'exec', id) }),
    ...(billed_usd !== null && { billed_usd }),
    ...(id !== null && { cost_microusd: cost }),
  };
}
