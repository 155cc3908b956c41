import { CreditBody, RefundBody } from '../admin/dto/admin.bodies.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { formatMicroUsd } from '../common/money/micro-usd.js';
import { microUsdOfUsd } from '../common/money/usd-text.js';
import { didYouMean } from '../common/nearest-name.js';
import { DAY_SECONDS } from '../common/time/spans.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import type { Dto } from '../common/validation/fields.js';
import { jsonOfTexts } from '../common/validation/form-fields.js';
import type { Options } from './operator-request.js';

const AMOUNT_OPTION = 'amount-microusd';
const KEY_OPTION = 'idempotency-key';
const TAX_OPTION = 'tax-microusd';
const DATE = /^\d{4}-\d\d-\d\d$/;
const EPOCH_SECONDS = /^\d{1,12}$/;
/** A date and a time with its zone. */
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
/** Options whose text is not the value of a field of their name. */
const LOCAL: ReadonlySet<string> = new Set([
  'all',
  'allowed-models',
  'available-below-usd',
  'charge',
  'charge-usd',
  'clear',
  'created-after',
  'created-before',
  'csv',
  'events',
  'expires-at',
  'file',
  'from',
  'low-balance-usd',
  'models',
  'result',
  'secret-file',
  'spend-limit-usd',
  'tax-usd',
  'to',
  'usd',
  'valid-from',
  'yes',
]);

/**
 * The options that are fields of the class, as if they had been sent (`--account-id` is `account_id`), and `more`. Throws 400
 * `invalid_request`.
 */
export function sent<T extends object>(dto: Dto<T>, options: Options, more: object = {}): T {
  const texts = Object.entries(options).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && !LOCAL.has(name) ? [[name.replaceAll('-', '_'), value]] : [],
  );
  const json = jsonOfTexts(dto, Object.fromEntries(texts));
  return validatorOf(dto).parse({ ...json, ...more });
}

/** The text of an option. */
export const given = (options: Options, name: string): string | undefined => {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
};

/** The options without these. */
export function without(options: Options, ...names: readonly string[]): Options {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !names.includes(name)));
}

/**
 * The fields that `--clear` names, by the names of their options; underscores are taken too. Throws 400 for another name, and
 * for a field that the body sets.
 */
export function clearedOf(
  options: Options,
  clearable: readonly string[],
  body: object,
): ReadonlySet<string> {
  const names = given(options, 'clear')?.replaceAll('_', '-').split(',') ?? [];
  const fields = names.map((typed) => {
    const name = typed === 'models' ? 'allowed-models' : typed;
    if (clearable.includes(name)) return name.replaceAll('-', '_');
    const nearest = didYouMean(typed, clearable);
    throw misused(`--clear takes ${clearable.join(', ')}, not ${JSON.stringify(typed)}.${nearest}`);
  });
  const both = fields.find((field) => (body as Record<string, unknown>)[field] !== undefined);
  if (both !== undefined) throw misused(`Set ${both} or clear it, not both.`);
  return new Set(fields);
}

/** The option as JSON. Text that is not JSON is returned unchanged, and the check of the body refuses it. */
export function jsonOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The fields `created_after` and `created_before` of a list, by the days or times of the options. Throws 400. */
export function timesOf(options: Options): { created_after?: number; created_before?: number } {
  const [from, to] = [given(options, 'from'), given(options, 'to')];
  for (const [day, time] of [
    ['from', 'created-after'],
    ['to', 'created-before'],
  ] as const) {
    if (options[day] === undefined || options[time] === undefined) continue;
    throw misused(`Use --${day} or --${time}, not both.`);
  }
  const after = from === undefined ? timeOf(options, 'created-after') : dayOf('from', from);
  const before =
    to === undefined ? timeOf(options, 'created-before') : dayOf('to', to) + DAY_SECONDS;
  if (from !== undefined && to !== undefined) refuseNoDay(dayOf('from', from), dayOf('to', to));
  return {
    ...(after !== undefined && { created_after: after }),
    ...(before !== undefined && { created_before: before }),
  };
}

/** The fields `from` and `to` of usage: the day behind the last one, for the API's `to` is exclusive. Throws 400. */
export function usageDaysOf(options: Options): { from?: string; to?: string } {
  const [from, to] = [given(options, 'from'), given(options, 'to')];
  const isDay = (text?: string) => text !== undefined && DATE.test(text);
  if (isDay(from) && isDay(to)) refuseNoDay(dayOf('from', from ?? ''), dayOf('to', to ?? ''));
  return {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to: isDay(to) ? dateOf(dayOf('to', to) + DAY_SECONDS) : to }),
  };
}

/** The epoch seconds of an option that is a time: epoch seconds, a date (its 00:00 UTC) or ISO 8601 with a zone. Throws 400. */
export function timeOf(options: Options, name: string): number | undefined {
  const text = given(options, name);
  if (text === undefined) return undefined;
  if (EPOCH_SECONDS.test(text)) return Number(text);
  if (DATE.test(text)) return dayOf(name, text);
  const seconds = ISO_TIME.test(text) ? Math.floor(Date.parse(text) / 1000) : Number.NaN;
  if (!Number.isNaN(seconds)) return seconds;
  throw misused(
    `--${name} must be epoch seconds, a date such as 2026-01-31, or a time such as 2026-01-31T08:00Z.`,
  );
}

/** The micro-USD of an amount that one of two options names: in micro-USD, or in USD. Digits as they came. Throws 400. */
export function amountOf(options: Options, name: string, usdName: string): string | undefined {
  const [micro, usd] = [given(options, name), given(options, usdName)];
  if (usd === undefined) return micro;
  if (micro !== undefined) throw misused(`Use --${name} or --${usdName}, not both.`);
  return microUsdText(usd, usdName);
}

/** The micro-USD of an option in USD, as digits. Throws 400. */
export function microUsdText(usd: string, name: string): string {
  const amount = microUsdOfUsd(usd);
  if (amount !== undefined) return formatMicroUsd(amount);
  throw misused(`--${name} must be an amount in USD with at most 6 decimals, such as 5.00.`);
}

/** 400 `invalid_request` with this message. */
export function misused(message: string): GatewayError {
  return new GatewayError('invalid_request', message);
}

/** The epoch seconds at which the day begins. */
function dayOf(name: string, text = ''): number {
  const seconds = DATE.test(text) ? Date.parse(`${text}T00:00:00Z`) / 1000 : Number.NaN;
  // Date.parse reads February 30 as a day in March.
  if (!Number.isNaN(seconds) && dateOf(seconds) === text) return seconds;
  if (EPOCH_SECONDS.test(text)) return Math.floor(Number(text) / DAY_SECONDS) * DAY_SECONDS;
  throw misused(`--${name} must be a day of UTC such as 2026-01-31.`);
}

const dateOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

function refuseNoDay(from: number, to: number): void {
  if (to < from) throw misused('--to must not be before --from: no day lies between them.');
}

/** The body of a credit, whose amount is the second operand or `--usd`. Throws 400. */
export function creditBodyOf(amount: string | undefined, options: Options): CreditBody {
  const usd = given(options, 'usd');
  if (usd !== undefined && amount !== undefined) {
    throw misused('Name the amount once: AMOUNT_MICROUSD or --usd.');
  }
  const microUsd = usd === undefined ? amount : microUsdText(usd, 'usd');
  const expiresAt = timeOf(options, 'expires-at');
  const tax = amountOf(options, TAX_OPTION, 'tax-usd');
  return sent(CreditBody, without(options, KEY_OPTION, TAX_OPTION), {
    ...(microUsd !== undefined && { amount_microusd: microUsd }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(tax !== undefined && { tax_microusd: tax }),
  });
}

/** The body of a refund, whose amount may be in USD. Throws 400. */
export function refundBodyOf(options: Options): RefundBody {
  const amount = amountOf(options, AMOUNT_OPTION, 'usd');
  const others = without(options, AMOUNT_OPTION, KEY_OPTION);
  return sent(RefundBody, others, amount === undefined ? {} : { amount_microusd: amount });
}
