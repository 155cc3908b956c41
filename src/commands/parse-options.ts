import { validatorOf } from '../common/validation/compiled-validator.js';
import type { Dto } from '../common/validation/fields.js';
import { jsonOfTexts } from '../common/validation/form-fields.js';
import type { Options } from './operator-request.js';

/** Options of every list. */
export const PAGE = '[--limit N] [--cursor C]';
/** Options of lists of calls and tasks. */
export const FILTERS =
  '[--account-id A] [--api-key-id K] [--model ID] [--status S] [--created-after T] [--created-before T]';

/** Options of a refund: all that is left of the charge, where no amount is named. */
export const REFUND = '[--amount-microusd N] [--note TEXT] [--idempotency-key KEY]';

/** The options that belong to fields of the class, as if they had been sent: `--account-id` is `account_id`. */
export function sent<T extends object>(dto: Dto<T>, options: Options, more: object = {}): T {
  const form = Object.entries(options).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && !LOCAL.has(name) ? [[name.replaceAll('-', '_'), value]] : [],
  );
  const json = jsonOfTexts(dto, Object.fromEntries(form));
  return validatorOf(dto).parse({ ...json, ...more });
}

/** Options that are not the name of a field. */
const LOCAL = new Set(['idempotency-key', 'models', 'clear', 'charge', 'result', 'csv']);
/** The text of an option. */
export const given = (options: Options, name: string): string | undefined => {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
};
/** The option as JSON. Text that is not JSON is returned unchanged, and the check of the body refuses it. */
export function jsonOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
