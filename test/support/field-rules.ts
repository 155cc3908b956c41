import { expect, it } from '@jest/globals';
import type { SeenRequest } from './stub-upstream.js';
import type { AudioHarness } from './audio-harness.js';
import type { AudioOperation } from './audio-operations.js';
import { formSeen, jsonSeen } from './stub-provider.js';

/** An optional field of an operation: valid and invalid values, and the rows of the requirements for them. */
export interface RefusedField {
  readonly field: string;
  /** Where the provider gets it, as a dotted path; absent if the provider does not get it. */
  readonly upstream?: string;
  readonly taken: readonly unknown[];
  readonly takenRow: string;
  readonly refused: readonly (readonly [unknown, string])[];
}

/** Bounds for every number of a body. */
export function numberRule(
  field: string,
  upstream: string,
  [min, max]: readonly [number, number],
  [below, above]: readonly [number, number],
  [taken, outside, type]: readonly [string, string, string],
  wrong: readonly unknown[] = ['1', true, [1]],
): RefusedField {
  return {
    field,
    upstream,
    taken: [min, max],
    takenRow: taken,
    refused: [[below, outside], [above, outside], ...wrong.map((value) => [value, type] as const)],
  };
}

/** A boolean. */
export function flagRule(
  field: string,
  upstream: string | undefined,
  [taken, type]: readonly [string, string],
): RefusedField {
  return {
    field,
    ...(upstream !== undefined && { upstream }),
    taken: [true, false],
    takenRow: taken,
    refused: (['true', 1, 'yes'] as const).map((value) => [value, type] as const),
  };
}

/** Tests of the rules: each valid value reaches the provider unchanged, and each invalid one is refused by name. */
export function provesFields(
  harness: () => AudioHarness,
  operation: AudioOperation,
  rules: readonly RefusedField[],
): void {
  const taken = rules.flatMap((rule) =>
    rule.taken.map((value) => [rule.field, value, rule.takenRow, rule.upstream] as const),
  );
  it.each(taken)('takes %s = %j (%s)', async (field, value, _row, upstream) => {
    const send = () => harness().postJson(operation, { [field]: value });
    const { seen } = await harness().charges(operation, send);
    if (upstream !== undefined) expect(await toldUnder(upstream, seen)).toEqual(value);
  });

  const refused = rules.flatMap((rule) =>
    rule.refused.map(([value, row]) => [rule.field, value, row] as const),
  );
  it.each(refused)('refuses %s = %j (%s)', async (field, value) => {
    await harness().refusesField(operation, field, value);
  });
}

async function toldUnder(path: string, seen: SeenRequest): Promise<unknown> {
  const isForm = seen.headers['content-type']?.startsWith('multipart/') === true;
  const [first = '', ...rest] = path.split('.');
  const body = isForm ? (await formSeen(seen)).fields : jsonSeen(seen);
  let value: unknown = body[first];
  if (isForm && typeof value === 'string') value = JSON.parse(value) as unknown;
  for (const key of rest) value = (value as Record<string, unknown>)[key];
  return value;
}
