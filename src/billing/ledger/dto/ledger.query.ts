import { GatewayError } from '../../../common/errors/gateway-error.js';
import { filterId } from '../../../common/ids/id-params.js';
import { MAX_ID_CHARS } from '../../../common/ids/public-id.js';
import { MAX_EPOCH_SECONDS } from '../../../common/time/clock.js';
import { timeRangeOf } from '../../../common/time/time-range.js';
import { Enum, Int, ModelId, Text } from '../../../common/validation/fields.js';
import {
  CORRECTION_KINDS,
  type CorrectionKind,
  ENTRY_KINDS,
  type LedgerEntry,
  REFUND_REASONS,
  type RefundReason,
} from '../../ledger-entry.js';
import type { EntryQuery } from '../../ledger-requests.js';

const JSON_ROWS = { most: 100, default: 20 } as const;
/**
 * Without a limit all entries are sent, so many of which are read at once. A page has the cost of the 10,000 rows that it looks at, so
 * fewer would cost more.
 */
const CSV_ROWS = { most: 10_000, default: 5_000 } as const;
const optional = { optional: true } as const;

/** Query of GET /v1/ledger. */
export class OwnLedgerQuery {
  @Int({
    min: 1,
    max: CSV_ROWS.most,
    ...optional,
    description: 'JSON: at most 100, 20 unless asked. CSV: at most 10,000; without it all entries',
  })
  limit?: number;

  @Text({ max: MAX_ID_CHARS, ...optional, description: '`next_cursor` of the page before' })
  cursor?: string;

  @Enum(['json', 'csv'], { default: 'json', description: 'JSON or CSV' })
  format!: 'json' | 'csv';

  @Enum(ENTRY_KINDS, { ...optional, description: 'Entries of one kind' })
  kind?: LedgerEntry['kind'];

  @Enum(CORRECTION_KINDS, {
    ...optional,
    description:
      'Of corrections: refund (an operator gave a charge back), reversal (an error did), adjustment (an operator set the balance right)',
  })
  correction_kind?: CorrectionKind;

  @Enum(REFUND_REASONS, { ...optional, description: 'Why it was refunded or corrected' })
  reason?: RefundReason;

  @ModelId({ ...optional, description: 'Of the call or task' })
  model?: string;

  @Text({ max: MAX_ID_CHARS, ...optional, description: 'Key of the call or task, by its id' })
  api_key_id?: string;

  @Int({ min: 0, max: MAX_EPOCH_SECONDS, ...optional, description: 'Epoch seconds, inclusive' })
  created_after?: number;

  @Int({ min: 0, max: MAX_EPOCH_SECONDS, ...optional, description: 'Epoch seconds, exclusive' })
  created_before?: number;
}

/** The query with internal names. Throws 400 `invalid_request`. */
export function entryQueryOf(query: OwnLedgerQuery): EntryQuery {
  return {
    ...timeRangeOf(query),
    limit: limitOf(query),
    cursor: query.cursor,
    kind: query.kind,
    correctionKind: query.correction_kind,
    reason: query.reason,
    model: query.model,
    apiKeyId: filterId('key', 'api_key_id', query.api_key_id),
  };
}

/** Whether all entries are asked for: CSV without a limit. */
export const asksForAll = ({ format, limit }: OwnLedgerQuery): boolean =>
  format === 'csv' && limit === undefined;

function limitOf({ format, limit }: OwnLedgerQuery): number {
  const rows = format === 'csv' ? CSV_ROWS : JSON_ROWS;
  if (limit === undefined || limit <= rows.most) return limit ?? rows.default;
  const message = `limit must be a whole number from 1 to ${rows.most} where format is ${format}.`;
  throw new GatewayError('invalid_request', message, { param: 'limit' });
}
