import { usdText } from '../../common/money/usd-text.js';
import type { Row } from './cell-rows.js';

/** What a row of usage is of. */
const GROUPS: readonly string[] = [
  'day',
  'hour',
  'model',
  'api_key_id',
  'endpoint',
  'run',
  'account_id',
  'account_name',
  'provider',
  'upstream_model',
];
const NEWEST_FIRST: readonly string[] = ['day', 'hour'];
/** Values that cannot be added. */
const SINGLE = /^(latency_|margin_percent$)/;
const MICRO_USD = '_microusd';
const COST = 'cost_microusd';
/** Hundredths of a percent in a whole. */
const WHOLE = 10_000n;

/** The rows of usage or margins of several cells, those of one group added up, in the order of groups. Percentiles are null. */
export function sumsOfGroups(rows: readonly Row[], isOfMargins: boolean): Row[] {
  const groups = new Map<string, Row>();
  for (const row of rows) {
    const key = JSON.stringify(groupOf(row).map((name) => row[name]));
    const known = groups.get(key);
    groups.set(key, known === undefined ? row : added(known, row));
  }
  return [...groups.values()].sort(compareGroups).map((row) => ({
    ...row,
    ...(isOfMargins && { margin_percent: percentOf(row) }),
  }));
}

/** Two audits as one: the sums of both, and the findings of both. */
export function sumOfAudits(audits: readonly Row[]): Row {
  const findings = audits.flatMap(({ cell, discrepancies }) =>
    (discrepancies as readonly Row[]).map((finding) => ({ cell, ...finding })),
  );
  const sum = audits.map(({ cell: _, ...audit }) => audit).reduce(added);
  return {
    ...sum,
    ok: audits.every(({ ok }) => ok === true),
    discrepancies: findings,
    cells: audits.map(({ cell, ok, accounts, posted_microusd }) => ({
      cell,
      ok,
      accounts,
      posted_microusd,
    })),
  };
}

const groupOf = (row: Row): string[] => GROUPS.filter((name) => name in row);

/** Both in one row: what is of a group stays, amounts and counts are added; what one of them does not know is not known. */
function added(one: Row, other: Row): Row {
  const sum: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(one)) sum[name] = sumOf(name, value, other[name]);
  // A cost counts as far as it is known, and the row says of how many calls it is.
  if (COST in one) sum[COST] ??= one[COST] ?? other[COST];
  if (one.unit !== other.unit && 'unit' in one) Object.assign(sum, unitOf(one, other));
  for (const name of Object.keys(sum)) {
    const amount = sum[`${name.slice(0, -'_usd'.length)}${MICRO_USD}`];
    if (name.endsWith('_usd') && typeof amount === 'string') sum[name] = usdText(BigInt(amount));
  }
  return sum;
}

/** A group without a quantity has no unit; two units have no sum. */
function unitOf(one: Row, other: Row): Row {
  const counted = [one, other].filter(({ quantity }) => quantity !== 0);
  const [{ unit = null, quantity = null } = {}] = counted;
  return counted.length === 1 ? { unit, quantity } : { unit: null, quantity: null };
}

function sumOf(name: string, one: unknown, other: unknown): unknown {
  if (GROUPS.includes(name)) return one;
  if (SINGLE.test(name) || one === null || other === null) return null;
  if (typeof one === 'number' && typeof other === 'number') return one + other;
  if (name.endsWith(MICRO_USD)) return (BigInt(one as string) + BigInt(other as string)).toString();
  return one;
}

function compareGroups(one: Row, other: Row): number {
  for (const name of groupOf(one)) {
    const [left, right] = [textOf(one[name]), textOf(other[name])];
    if (left === right) continue;
    return left < right === NEWEST_FIRST.includes(name) ? 1 : -1;
  }
  return 0;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function percentOf({ margin_microusd: margin, charged_microusd: charged }: Row): number | null {
  if (typeof margin !== 'string' || BigInt(String(charged)) <= 0n) return null;
  return Number((BigInt(margin) * WHOLE) / BigInt(String(charged))) / 100;
}
