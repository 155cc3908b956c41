import { ApiProperty } from '@nestjs/swagger';
import { toPublicId } from '../../common/ids/public-id.js';
import { NEXT_CURSOR_HEADER, pageOfViews, type PageView } from '../../common/paging/page.view.js';
import { millisecondsOf, NOBODY, type UsageDimension, type UsageRow } from './usage-reports.js';

const latency = {
  nullable: true,
  type: 'integer',
  description: 'Milliseconds, within 5 %',
} as const;

/** The usage of one group of calls. Only the requested dimensions are present. */
export class UsageView {
  @ApiProperty({ enum: ['usage'] })
  object!: 'usage';

  @ApiProperty({ required: false, example: '2026-01-31', description: 'Of UTC' })
  day?: string;

  @ApiProperty({ required: false, example: 'aud-v4' })
  model?: string;

  @ApiProperty({ required: false, nullable: true, type: String })
  api_key_id?: string | null;

  @ApiProperty({ required: false, example: '/v1/audio/speech' })
  endpoint?: string;

  @ApiProperty({ required: false })
  account_id?: string;

  @ApiProperty({ type: 'integer', description: 'Calls and tasks that ended' })
  calls!: number;

  @ApiProperty({ type: 'integer' })
  failures!: number;

  @ApiProperty({ description: 'Units of the models: code points, seconds, images, tokens, tasks' })
  quantity!: number;

  @ApiProperty({ example: '600', description: 'Micro-USD charged less what was given back' })
  charged_microusd!: string;

  @ApiProperty(latency)
  latency_p50_ms!: number | null;

  @ApiProperty(latency)
  latency_p99_ms!: number | null;
}

/** A page of usage. */
export class UsagePage extends pageOfViews(UsageView) {}

const NAME: Readonly<Record<UsageDimension, keyof UsageView>> = {
  day: 'day',
  model: 'model',
  key: 'api_key_id',
  endpoint: 'endpoint',
  account: 'account_id',
};
const MEASURES = [
  'calls',
  'failures',
  'quantity',
  'charged_microusd',
  'latency_p50_ms',
  'latency_p99_ms',
] as const;

/** The group as clients see it. */
export function viewUsage(row: UsageRow): UsageView {
  const { day, model, endpoint, api_key_id: key, account_id: account } = row;
  return {
    object: 'usage',
    ...(day !== undefined && { day }),
    ...(model !== undefined && { model }),
    ...(key !== undefined && { api_key_id: key === NOBODY ? null : toPublicId('key', key) }),
    ...(endpoint !== undefined && { endpoint }),
    ...(account !== undefined && { account_id: toPublicId('acct', account) }),
    calls: Number(row.calls),
    failures: Number(row.failures),
    quantity: Number(row.quantity),
    charged_microusd: row.charged,
    latency_p50_ms: millisecondsOf(row.p50_bucket),
    latency_p99_ms: millisecondsOf(row.p99_bucket),
  };
}

/** In the document: how usage is asked as CSV. */
export const CSV_DESCRIPTION =
  '`format=csv` answers the same names and values as CSV, its cursor in `x-gateway-next-cursor`.';

/** In the document: the cursor of a CSV. */
export const CSV_HEADERS = {
  [NEXT_CURSOR_HEADER]: {
    description: 'Of CSV: `next_cursor`; absent on the last page',
    schema: { type: 'string' },
  },
} as const;

/** The page as CSV: a line of names, then one line per group. Null is empty. */
export function csvOfUsage(
  { data }: PageView<UsageView>,
  groupBy: readonly UsageDimension[],
): string {
  const names = [...groupBy.map((dimension) => NAME[dimension]), ...MEASURES];
  const lines = data.map((row) => names.map((name) => cellOf(row[name])).join(','));
  return [names.join(','), ...lines, ''].join('\r\n');
}

/** Quoted if necessary. Text that a spreadsheet would take for a formula gets an apostrophe; a number stays a number. */
function cellOf(value: string | number | null | undefined): string {
  if (typeof value !== 'string') return value?.toString() ?? '';
  const isFormula = /^[=+@\t\r-]/.test(value) && !/^-\d+$/.test(value);
  const text = isFormula ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
