import { describe, expect, it } from '@jest/globals';
import { namedSchema, operations, type OpenApiSchema } from './support/openapi-document.js';

const JSON_TYPE = 'application/json';

describe('the examples of responses in the OpenAPI document', () => {
  /** Every success in JSON, with its examples and the place of its schema. */
  const successes = operations.flatMap(({ operationId: id, responses }) =>
    Object.entries(responses).flatMap(([status, { content = {} }]) => {
      const media = content[JSON_TYPE];
      if (!status.startsWith('2') || !media) return [];
      const { example, examples = {} } = media;
      const written = [...(example === undefined ? [] : [example])];
      const all = [...written, ...Object.values(examples).map(({ value }) => value)];
      return [{ id, schema: media.schema, examples: all }];
    }),
  );

  it('are written for each success in JSON', () => {
    expect(successes.length).toBeGreaterThan(45);
    expect(successes.filter(({ examples }) => examples.length === 0).map(({ id }) => id)).toEqual(
      [],
    );
  });

  it('are valid by their schemas', () => {
    for (const { id, schema, examples } of successes)
      for (const example of examples) expect(faultsOf(schema ?? {}, example, id)).toEqual([]);
  });

  it('show no task that has a result, an end or a charge before it has ended', () => {
    const tasks = successes.flatMap(({ examples }) =>
      examples.flatMap((example) => tasksIn(example)),
    );
    expect(tasks.length).toBeGreaterThan(5);
    for (const task of tasks) {
      const isDone = /^(succeeded|completed)$/.test(task.status);
      const isEnded = isDone || /^(failed|expired|reconciliation_required)$/.test(task.status);
      if (!isDone) expect(task.result ?? null).toBeNull();
      if (!isEnded)
        expect([task.completed_at, task.charged_microusd ?? null, task.progress]).toEqual([
          null,
          null,
          null,
        ]);
      expect(task.error === null).toBe(task.status !== 'failed');
    }
  });
});

interface Task {
  readonly object: string;
  readonly status: string;
  readonly result?: unknown;
  readonly error: unknown;
  readonly progress: unknown;
  readonly completed_at?: unknown;
  readonly charged_microusd?: unknown;
}

/** The tasks and videos in an example: itself, or the rows of a list. */
function tasksIn(example: unknown): Task[] {
  const { data } = example as { data?: unknown };
  const rows = (Array.isArray(data) ? data : [example]) as readonly Task[];
  return rows.filter(({ object }) => object === 'task' || object === 'video');
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === 'number',
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && !Array.isArray(value),
};

/**
 * Where a value departs from a schema: its type, its enum, an absent or unknown field. A part of `allOf` does not know the
 * fields of the others.
 */
function faultsOf(schema: OpenApiSchema, value: unknown, at: string, isWhole = true): string[] {
  if (schema.$ref !== undefined) return faultsOf(namedSchema(schema) ?? {}, value, at, isWhole);
  const { oneOf, type } = schema;
  if (value === null && schema.nullable === true) return [];
  if (oneOf) {
    const each = oneOf.map((one) => faultsOf(one, value, at, isWhole));
    return each.some((faults) => faults.length === 0) ? [] : each.flat();
  }
  if (type !== undefined && (value === null || TYPES[type]?.(value) === false))
    return [`${at} is not ${type}: ${JSON.stringify(value)}`];
  return partFaultsOf(schema, value, at, isWhole);
}

/** The faults of a value whose type is right. */
function partFaultsOf(
  schema: OpenApiSchema,
  value: unknown,
  at: string,
  isWhole: boolean,
): string[] {
  const { allOf = [], type, properties } = schema;
  const isListed = schema.enum?.includes(value) ?? true;
  return [
    ...(isListed ? [] : [`${at} is none of the enum: ${JSON.stringify(value)}`]),
    ...allOf.flatMap((one) => faultsOf(one, value, at, false)),
    ...(type === 'object' || properties ? fieldFaultsOf(schema, value as object, at, isWhole) : []),
    ...itemFaultsOf(schema, value, at),
  ];
}

function itemFaultsOf({ items }: OpenApiSchema, value: unknown, at: string): string[] {
  if (!Array.isArray(value) || !items) return [];
  return value.flatMap((one, row) => faultsOf(items, one, `${at}.${String(row)}`));
}

/** The fields that are absent, unknown or wrong. */
function fieldFaultsOf(
  schema: OpenApiSchema,
  value: object,
  at: string,
  isWhole: boolean,
): string[] {
  const { properties, required = [], additionalProperties: more } = schema;
  const isOpen = !isWhole || properties === undefined || more !== undefined;
  const absent = required.filter((name) => !Object.hasOwn(value, name));
  const wrong = Object.entries(value).flatMap(([name, of]) => {
    const known = properties?.[name];
    if (known) return faultsOf(known, of, `${at}.${name}`);
    return isOpen ? [] : [`${at}.${name} is unknown`];
  });
  return [...absent.map((name) => `${at}.${name} is absent`), ...wrong];
}
