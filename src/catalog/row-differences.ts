import type { ModelRow } from './model-row.js';

/** A field of a model that is not the same in two rows. */
export interface FieldDifference {
  /** Its path, such as `limits.max_output_tokens`. Amounts are micro-USD. */
  readonly field: string;
  /** Null: it is not there. */
  readonly before: string | null;
  readonly after: string | null;
}

/** A difference, and the model that has it. */
export interface ModelDifference extends FieldDifference {
  readonly model: string;
}

type Value = string | number | bigint | boolean | object | null | undefined;

const MAX_VALUE_CHARS = 500;
const NOT_SHOWN = '(not shown)';
/** An operator may have put a password of a provider there: into a header, or into a field of the body. */
const MAY_BE_SECRET = /^(headers|constants)\./;
const NO_LONGER_SOLD: FieldDifference = { field: 'enabled', before: 'true', after: 'false' };
const COST = /^routes\.\d+\.(cost|reported_cost)\b/;
/** Names of our own; those of callers and providers, such as names of voices, stay as they are. */
const CAMEL = /^[a-z][a-z0-9]*[A-Z]/;

/** Whether the field tells what work costs at a provider. */
export const isCostField = ({ field }: FieldDifference): boolean => COST.test(field);

/**
 * What differs between two rows of one model, in the order of their fields. A row that is absent or disabled is not sold: what
 * is sold no longer differs in `enabled` alone.
 */
export function rowDifferences(
  before: ModelRow | undefined,
  after: ModelRow | undefined,
): FieldDifference[] {
  if (after?.enabled !== true) return before?.enabled === true ? [NO_LONGER_SOLD] : [];
  const [former, latter] = [leavesOfRow(before), leavesOfRow(after)];
  const fields = new Set([...former.keys(), ...latter.keys()]);
  return [...fields]
    .filter((field) => former.get(field) !== latter.get(field))
    .map((field) => ({
      field,
      before: shown(field, former.get(field)),
      after: shown(field, latter.get(field)),
    }));
}

/** What differs between two catalogs, by the ids of the models: those of the first one come first. */
export function catalogDifferences(
  before: readonly ModelRow[],
  after: readonly ModelRow[],
): ModelDifference[] {
  const [former, latter] = [before, after].map(
    (rows) => new Map(rows.map((row) => [row.id, row] as const)),
  ) as [Map<string, ModelRow>, Map<string, ModelRow>];
  return [...new Set([...former.keys(), ...latter.keys()])].flatMap((model) =>
    rowDifferences(former.get(model), latter.get(model)).map((one) => ({ model, ...one })),
  );
}

function leavesOfRow(row: ModelRow | undefined): ReadonlyMap<string, string> {
  if (row?.enabled !== true) return new Map([['enabled', 'false']]);
  const { id: _id, terms: { outputCapParameter: lengthParameter, ...terms } = {}, ...fields } = row;
  // Terms stand beside the other fields in an overlay.
  return new Map(leavesOf({ ...fields, lengthParameter, ...terms }, ''));
}

function leavesOf(value: Value, path: string): (readonly [string, string])[] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null) return [[path, String(value)]];
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) {
    return value.length === 0 ? [] : [[path, value.join(', ')]];
  }
  return Object.entries<Value>({ ...value }).flatMap(([name, inner]) =>
    leavesOf(inner, path === '' ? snakeCased(name) : `${path}.${snakeCased(name)}`),
  );
}

const snakeCased = (name: string): string =>
  CAMEL.test(name)
    ? name.replace(/[A-Z]|(?<=[a-z])\d/g, (letter) => `_${letter.toLowerCase()}`)
    : name;

function shown(field: string, value: string | undefined): string | null {
  if (value === undefined) return null;
  if (MAY_BE_SECRET.test(field)) return NOT_SHOWN;
  return value.length <= MAX_VALUE_CHARS ? value : `${value.slice(0, MAX_VALUE_CHARS - 1)}…`;
}
