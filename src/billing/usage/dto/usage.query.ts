import { GatewayError } from '../../../common/errors/gateway-error.js';
import { filterId } from '../../../common/ids/id-params.js';
import { Custom, ModelId, Enum, Text, Int } from '../../../common/validation/fields.js';
import {
  ADMIN_USAGE_DIMENSIONS,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageRequest,
} from '../usage-reports.js';

const DAY_MS = 86_400_000;
const MAX_ID = 100;
const MAX_ROWS = 10_000;
const DEFAULT_ROWS = 1_000;
const DEFAULT_DAYS = 30;
/** Ten years. */
const MAX_DAYS = 3_660;
/** 9999-12-31 as days since 1970; the database accepts no year with five digits. */
const LAST_DAY = 2_932_896;
const DATE = /^\d{4}-\d\d-\d\d$/;
const EPOCH_SECONDS = /^\d{1,12}$/;
const CURSOR = /^\d{1,9}$/;
const optional = { optional: true } as const;

/** Days since 1970, of epoch seconds or a date; undefined for other text. */
export const dayIn = (text: string): number | undefined => {
  const day = EPOCH_SECONDS.test(text) ? Number(text) / (DAY_MS / 1000) : dayOfDate(text);
  return day >= 0 && day <= LAST_DAY ? day : undefined;
};
const dayOfDate = (text: string): number => {
  const day = DATE.test(text) ? Date.parse(`${text}T00:00:00Z`) / DAY_MS : Number.NaN;
  // Date.parse reads February 30 as a day in March.
  return !Number.isNaN(day) && dateOf(day) === text ? day : Number.NaN;
};
/** The date of days since 1970. */
export const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
const isTime = (value: unknown): boolean => typeof value === 'string' && dayIn(value) !== undefined;

const groupsBy = (dimensions: readonly string[]) => (value: unknown) => {
  if (typeof value !== 'string') return false;
  const words = value.split(',');
  const isKnown = words.every((word) => dimensions.includes(word));
  return isKnown && new Set(words).size === words.length;
};

/** The dimensions by which a query groups. */
const GroupBy = (dimensions: readonly UsageDimension[], usual: string) =>
  Custom(groupsBy(dimensions), `must name some of ${dimensions.join(', ')}, with commas between`, {
    default: usual,
    api: { type: String, example: 'day,model' },
    description: `One row for each value of these, with commas between: ${dimensions.join(', ')}`,
  });

/** A day of UTC that a query names; see {@link dayIn}. */
export const TimeField = (description: string, example: string) =>
  Custom(isTime, 'must be epoch seconds or a date such as 2026-01-31, of the years 1970 to 9999', {
    ...optional,
    description,
    api: { type: String, example },
  });

/** Query of GET /v1/usage. */
export class UsageQuery {
  @GroupBy(USAGE_DIMENSIONS, 'day')
  group_by!: string;

  @TimeField(
    'Epoch seconds or a date of UTC; the day it lies in is the first. Default: 30 days',
    '2026-01-01',
  )
  from?: string;

  @TimeField('Epoch seconds or a date of UTC, exclusive. Default: all up to now', '2026-02-01')
  to?: string;

  @ModelId(optional)
  model?: string;

  @Text({ max: MAX_ID, ...optional, description: 'Usage of one key, by its id' })
  api_key_id?: string;

  @Enum(['json', 'csv'], { default: 'json', description: 'JSON or CSV' })
  format!: 'json' | 'csv';

  @Int({ min: 1, max: MAX_ROWS, default: DEFAULT_ROWS, description: 'Most rows of the page' })
  limit!: number;

  @Custom((value) => typeof value === 'string' && CURSOR.test(value), 'is not one this list gave', {
    ...optional,
    description: '`next_cursor` of the page before',
    api: { type: String },
  })
  cursor?: string;
}

/** Query of GET /admin/usage. */
export class AdminUsageQuery extends UsageQuery {
  @GroupBy(ADMIN_USAGE_DIMENSIONS, 'day')
  declare group_by: string;

  @Text({ max: MAX_ID, ...optional, description: 'Usage of one account, by its id' })
  account_id?: string;
}

/** Query of GET /admin/margin. */
export class MarginQuery extends AdminUsageQuery {
  @GroupBy(ADMIN_USAGE_DIMENSIONS, 'model')
  declare group_by: string;
}

/** The query with internal names. Throws 400 `invalid_request` for an invalid id, for no day and for more than ten years. */
export function usageRequestOf(
  query: UsageQuery,
  accountId: string | undefined,
  nowMs: number,
): UsageRequest & { readonly lastDay: string } {
  const today = Math.floor(nowMs / DAY_MS);
  const end = Math.ceil(query.to === undefined ? today + 1 : (dayIn(query.to) ?? today + 1));
  const byDefault = Math.max(0, Math.min(today + 1, end) - DEFAULT_DAYS);
  const firstDay = Math.floor(query.from === undefined ? byDefault : (dayIn(query.from) ?? 0));
  if (end <= firstDay) throw noDay(query, dateOf(firstDay), dateOf(end));
  if (end - firstDay > MAX_DAYS) {
    const message = `from must lie at most ${MAX_DAYS} days before to.`;
    throw new GatewayError('invalid_request', message, { param: 'from' });
  }
  return {
    groupBy: query.group_by.split(',') as UsageDimension[],
    fromDay: dateOf(firstDay),
    toDay: dateOf(end),
    lastDay: dateOf(end - 1),
    accountId,
    apiKeyId: filterId('key', 'api_key_id', query.api_key_id),
    model: query.model,
    limit: query.limit,
    offset: Number(query.cursor ?? 0),
  };
}

function noDay({ to }: UsageQuery, from: string, end: string): GatewayError {
  const message = `No day lies between from (${from}) and to (${end}): to is exclusive, so for one day it is the next one.`;
  return new GatewayError('invalid_request', message, { param: to === undefined ? 'from' : 'to' });
}
