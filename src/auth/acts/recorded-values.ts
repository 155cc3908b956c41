import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { formatMicroUsd } from '../../common/money/micro-usd.js';

/** What an action changed: the fields that differ, as the operator API shows them. Null if there is nothing to show. */
export interface RecordedChange {
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
}

export const NOTHING_CHANGED: RecordedChange = { before: null, after: null };

/** The fields that operators change, by the prefix of the id. The text of a key is not among them. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  acct: ['name', 'disabled', 'play_money', 'price_book', 'low_balance_microusd', 'keep_answers'],
  // The id of a price book is a name of the operator's.
  price_book: ['factor_permille', 'models', 'valid_from', 'planned'],
  key: [
    'name',
    'allowed_models',
    'expires_at',
    'requests_per_minute',
    'spend_limit_microusd',
    'spend_limit_period',
    'scopes',
    'revoked_at',
  ],
  exec: ['refunded_microusd'],
  task: ['task_status', 'charged_microusd', 'refunded_microusd'],
  whd: ['status', 'next_attempt_at'],
  // Not its URL, which often has a token of the receiver.
  whe: ['events'],
};

/**
 * What an action changed. `before` is its target as operators see it, undefined if it could not be read; `answer` is the result
 * of the action; `reread` is the target afterwards, for an action without a result. A ledger entry shows the balance, a new
 * resource all its fields, any other target the fields that differ.
 */
export function changeOf(
  target: string | null,
  before: unknown,
  answer: unknown,
  reread: unknown,
): RecordedChange {
  const made = isJsonObject(answer) ? answer : {};
  if (made.object === 'ledger_entry') return balanceChange(made);
  if (typeof made.id === 'string' && made.id !== target) {
    return { before: null, after: valuesOf(made) };
  }
  const [former, latter] = [valuesOf(before), valuesOf(valuesOf(answer) ? answer : reread)];
  if (former === null || latter === null) return NOTHING_CHANGED;
  const names = Object.keys(latter).filter(
    (name) => JSON.stringify(former[name]) !== JSON.stringify(latter[name]),
  );
  const only = (values: JsonObject) =>
    Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
  return { before: only(former), after: only(latter) };
}

function balanceChange({ amount_microusd: amount, balance_after_microusd: after }: JsonObject) {
  if (typeof amount !== 'string' || typeof after !== 'string') return NOTHING_CHANGED;
  return {
    before: { balance_microusd: formatMicroUsd(BigInt(after) - BigInt(amount)) },
    after: { balance_microusd: after },
  };
}

/** The fields of a resource that operators change; null for a value without an id or such fields. */
function valuesOf(view: unknown): JsonObject | null {
  if (!isJsonObject(view) || typeof view.id !== 'string') return null;
  const kind = view.object === 'price_book' ? view.object : view.id.split('_')[0];
  const fields = FIELDS[kind ?? ''] ?? [];
  const known = fields.filter((name) => name in view);
  if (known.length === 0) return null;
  return Object.fromEntries(known.map((name) => [name, view[name] ?? null]));
}
