import { GatewayError } from '../../../common/errors/gateway-error.js';
import { filterId } from '../../../common/ids/id-params.js';
import { MAX_ID_CHARS } from '../../../common/ids/public-id.js';
import { DAY_SECONDS, HOUR_SECONDS } from '../../../common/time/spans.js';
import { Custom, ModelId, Enum, Text, Int } from '../../../common/validation/fields.js';
import {
  ADMIN_USAGE_DIMENSIONS,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageRequest,
} from '../usage-request.js';
import { HOURS_KEPT_DAYS } from '../../retention/record-retention.js';

const MAX_ROWS = 10_000;
const DEFAULT_ROWS = 1_000;
const DEFAULT_DAYS = 30;
/** Ten years. */
const MAX_DAYS = 3_660;
/** 9999-12-31 as days since 1970; the database accepts no year with five digits. */
const LAST_DAY = 2_932_896;
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?$/;
const EPOCH_SECONDS = /^\d{1,12}$/;
const CURSOR = /^\d{1,9}$/;
const optional = { optional: true } as const;

/** Seconds since 1970, of epoch seconds, a date or a time of UTC; undefined for other text. */
export const secondsIn = (text: string): number | undefined => {
  const seconds = EPOCH_SECONDS.test(text) ? Number(text) : secondsOfTime(text);
  return seconds >= 0 && seconds <= LAST_DAY * DAY_SECONDS ? seconds : undefined;
};
const secondsOfTime = (text: string): number => {
  const seconds = TIME.test(text) ? Date.parse(text) / 1000 : Number.NaN;
  // Date.parse reads February 30 as a day in March, and 24:00 as the next day.
  return !Number.isNaN(seconds) && timeOf(seconds).startsWith(text) ? seconds : Number.NaN;
};
/** The time of seconds since 1970, such as `2026-01-31T14:00:00Z`. */
const timeOf = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, -5)}Z`;
/** The date of seconds since 1970. */
export const dateOf = (seconds: number): string => timeOf(seconds).slice(0, 10);
const isTime = (value: unknown): boolean =>
  typeof value === 'string' && secondsIn(value) !== undefined;

const groupsBy = (dimensions: readonly string[]) => (value: unknown) => {
  if (typeof value !== 'string') return false;
  const words = value.split(',');
  const isKnown = words.every((word) => dimensions.includes(word));
  const isSummedUp = !words.includes('hour') || !(words.includes('day') || words.includes('run'));
  return isKnown && isSummedUp && new Set(words).size === words.length;
};
const NOT_WITH_HOUR = '`hour` goes neither with `day` nor with `run`';

/** The dimensions by which a query groups. */
const GroupBy = (dimensions: readonly UsageDimension[], usual: string) =>
  Custom(
    groupsBy(dimensions),
    `must name some of ${dimensions.join(', ')}, with commas between; ${NOT_WITH_HOUR}`,
    {
      default: usual,
      api: { type: String, example: 'day,model' },
      description: `One row for each value of these, with commas between: ${dimensions.join(', ')}. Hours are kept for ${HOURS_KEPT_DAYS} days; ${NOT_WITH_HOUR}`,
    },
  );

/** A time of UTC that a query names; see {@link secondsIn}. */
export const TimeField = (description: string, example: string) =>
  Custom(
    isTime,
    'must be epoch seconds, a date such as 2026-01-31 or a time such as 2026-01-31T14:00:00Z, of the years 1970 to 9999',
    { ...optional, description, api: { type: String, example } },
  );

/** Query of GET /v1/usage. */
export class UsageQuery {
  @GroupBy(USAGE_DIMENSIONS, 'day')
  group_by!: string;

  @TimeField(
    `Epoch seconds, a date or a time of UTC; the day it lies in is the first, or the hour where usage is grouped by \`hour\`. Default: ${DEFAULT_DAYS} days, ${HOURS_KEPT_DAYS} by hour`,
    '2026-01-01',
  )
  from?: string;

  @TimeField(
    'Epoch seconds, a date or a time of UTC, exclusive. Default: all up to now',
    '2026-02-01',
  )
  to?: string;

  @ModelId(optional)
  model?: string;

  @Text({ max: MAX_ID_CHARS, ...optional, description: 'Usage of one key, by its id' })
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

  @Text({ max: MAX_ID_CHARS, ...optional, description: 'Usage of one account, by its id' })
  account_id?: string;
}

/** Query of GET /admin/margin. */
export class MarginQuery extends AdminUsageQuery {
  @GroupBy(ADMIN_USAGE_DIMENSIONS, 'model')
  declare group_by: string;
}

/**
 * The query with internal names. Throws 400 `invalid_request` for an invalid id, for no day or hour, for more than ten years, and
 * for hours that are kept no more.
 */
export function usageRequestOf(
  query: UsageQuery,
  accountId: string | undefined,
  nowMs: number,
): UsageRequest & { readonly lastDay: string } {
  const groupBy = query.group_by.split(',') as UsageDimension[];
  const span = groupBy.includes('hour') ? hoursOf(query, nowMs) : daysOf(query, nowMs);
  const { from, to, write, name } = span;
  if (to <= from) throw noneBetween(query, name, write(from), write(to));
  if (to - from > MAX_DAYS * DAY_SECONDS) {
    const message = `from must lie at most ${MAX_DAYS} days before to.`;
    throw new GatewayError('invalid_request', message, { param: 'from' });
  }
  return {
    groupBy,
    from: write(from),
    to: write(to),
    lastDay: dateOf(to - 1),
    accountId,
    apiKeyId: filterId('key', 'api_key_id', query.api_key_id),
    model: query.model,
    limit: query.limit,
    offset: Number(query.cursor ?? 0),
  };
}

/** Whole days or hours, in seconds since 1970; `to` is exclusive. */
interface Span {
  readonly name: 'day' | 'hour';
  readonly from: number;
  readonly to: number;
  readonly write: (seconds: number) => string;
}

function daysOf(query: UsageQuery, nowMs: number): Span {
  const tomorrow = floorTo(DAY_SECONDS, nowMs / 1000) + DAY_SECONDS;
  const to = endOf(query, DAY_SECONDS, tomorrow);
  const usual = Math.max(0, Math.min(tomorrow, to) - DEFAULT_DAYS * DAY_SECONDS);
  return { name: 'day', from: startOf(query, DAY_SECONDS, usual), to, write: dateOf };
}

function hoursOf(query: UsageQuery, nowMs: number): Span {
  const nextHour = floorTo(HOUR_SECONDS, nowMs / 1000) + HOUR_SECONDS;
  const oldest = floorTo(DAY_SECONDS, nowMs / 1000) - HOURS_KEPT_DAYS * DAY_SECONDS;
  const to = endOf(query, HOUR_SECONDS, nextHour);
  const usual = Math.max(oldest, Math.min(nextHour, to) - HOURS_KEPT_DAYS * DAY_SECONDS);
  const from = startOf(query, HOUR_SECONDS, usual);
  if (from < oldest) {
    const message = `Usage by hour is kept for ${HOURS_KEPT_DAYS} days: from must not lie before ${timeOf(oldest)}.`;
    throw new GatewayError('invalid_request', message, { param: 'from' });
  }
  return { name: 'hour', from, to, write: timeOf };
}

const floorTo = (step: number, seconds: number) => Math.floor(seconds / step) * step;
const startOf = ({ from }: UsageQuery, step: number, usual: number) =>
  from === undefined ? usual : floorTo(step, secondsIn(from) ?? 0);
const endOf = ({ to }: UsageQuery, step: number, usual: number) =>
  to === undefined ? usual : Math.ceil((secondsIn(to) ?? usual) / step) * step;

function noneBetween(
  { to }: UsageQuery,
  name: 'day' | 'hour',
  from: string,
  end: string,
): GatewayError {
  const message = `No ${name} lies between from (${from}) and to (${end}): to is exclusive, so for one ${name} it is the next one.`;
  return new GatewayError('invalid_request', message, { param: to === undefined ? 'from' : 'to' });
}
