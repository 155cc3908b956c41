import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const JSON_TYPE = 'application/json';

interface Schema {
  readonly $ref?: string;
  readonly title?: string;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly discriminator?: { readonly mapping: Readonly<Record<string, string>> };
}
interface Parameter extends Schema {
  readonly name: string;
  readonly in: string;
  readonly example?: unknown;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<
    Record<string, Schema & { readonly content?: Readonly<Record<string, Media>> }>
  >;
}
interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, object>>;
  };
}

const document = JSON.parse(
  readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'),
) as OpenApi;
const { paths, components } = document;
const operations = Object.values(paths).flatMap((methods) => Object.values(methods));

/** A sentence of its own; the default alone, or a word, tells nobody what a field is for. */
const isSentence = (text = ''): boolean => /^(?!Default ).{5,}/s.test(text);

const named = ({ $ref: reference = '' }: Schema): Schema | undefined =>
  components.schemas[reference.split('/').at(-1) ?? ''];

/** The fields of a schema and of all that it refers to, as `Class.field`, with what is said of each. */
function* fieldsOf(
  schema: Schema,
  name: string,
  seen: Set<string>,
): Generator<[string, string | undefined]> {
  const { $ref: reference, properties = {}, items, allOf = [], oneOf = [] } = schema;
  if (reference !== undefined) {
    const own = named(schema);
    if (own && !seen.has(reference)) yield* fieldsOf(own, nameOf(reference), seen.add(reference));
  }
  for (const [field, of] of Object.entries(properties)) {
    yield [`${name}.${field}`, of.description ?? named(of)?.description];
    yield* fieldsOf(of, `${name}.${field}`, seen);
  }
  for (const part of [...(items ? [items] : []), ...allOf, ...oneOf])
    yield* fieldsOf(part, name, seen);
}
const nameOf = (reference: string): string => reference.split('/').at(-1) ?? '';
const resolved = (response: Schema): object | undefined =>
  response.$ref === undefined ? response : components.responses[nameOf(response.$ref)];

describe('the words of the OpenAPI document', () => {
  it('describe each operation beyond its summary', () => {
    const bare = operations.filter(({ description, summary }) => {
      return !isSentence(description) || description === summary;
    });
    expect(bare.map(({ operationId: id }) => id)).toEqual([]);
  });

  it('say of each field of a request what it is for', () => {
    const bodies = operations.flatMap(({ requestBody }) =>
      Object.values(requestBody?.content ?? {}).map(({ schema }) => schema),
    );
    const seen = new Set<string>();
    const fields = bodies.flatMap((schema) => [...fieldsOf(schema, '', seen)]);
    expect(fields.length).toBeGreaterThan(500);
    expect(fields.filter(([, text]) => !isSentence(text)).map(([field]) => field)).toEqual([]);
  });

  it('say of each field of a response what it tells', () => {
    const answers = operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ content = {} }) =>
        Object.values(content).map(({ schema = {} }) => schema),
      ),
    );
    const seen = new Set<string>();
    const fields = answers.flatMap((schema) => [...fieldsOf(schema, '', seen)]);
    expect(fields.length).toBeGreaterThan(400);
    expect(fields.filter(([, text]) => !isSentence(text)).map(([field]) => field)).toEqual([]);
  });

  it('say of each parameter what it is for', () => {
    const bare = operations.flatMap(({ operationId: id, parameters = [] }) =>
      parameters
        .filter(({ $ref: reference, description }) => !reference && !isSentence(description))
        .map(({ name }) => `${id} ${name}`),
    );
    expect(bare).toEqual([]);
  });

  it('say of each operation with a body that the body may be refused', () => {
    const silent = operations.filter(({ requestBody, responses }) => {
      const refusal = JSON.stringify(resolved(responses['400'] ?? {}));
      return requestBody && !/`invalid_(music_)?request`/.test(refusal);
    });
    expect(silent.map(({ operationId: id }) => id)).toEqual([]);
  });

  it('name the models that take a body in its title', () => {
    const song = paths['/v1/music/generations']?.post?.requestBody?.content['application/json'];
    const { mapping } = song!.schema.discriminator!;
    for (const [model, reference] of Object.entries(mapping))
      expect([model, named({ $ref: reference })?.title?.split(', ')]).toEqual([
        model,
        expect.arrayContaining([model]),
      ]);
  });

  it('offer no Idempotency-Key, for a repeated one moves no money', () => {
    const keys = operations.flatMap(({ parameters = [] }) =>
      parameters.filter(({ name }) => name === 'Idempotency-Key'),
    );
    expect(keys.length).toBeGreaterThan(2);
    expect(keys.filter((key) => JSON.stringify(key).includes('"example"'))).toEqual([]);
  });

  it('call an operation of the operator that callers have too by the same name with Admin', () => {
    const ids = operations.map(({ operationId: id }) => id);
    expect(ids.filter((id) => /Any|All(?!ow)|Own/.test(id))).toEqual([]);
    const twins = ids.filter((id) => id.includes('Admin')).map((id) => id.replace('Admin', ''));
    expect(twins).toEqual(expect.arrayContaining(['listTasks', 'retrieveTask', 'retrieveKey']));
  });

  it('do not call keys and tokens JWTs', () => {
    expect(JSON.stringify(components.securitySchemes)).not.toMatch(/bearerFormat|JWT/);
  });
});

describe('the examples of responses in the OpenAPI document', () => {
  /** Every success in JSON, with its examples and the place of its schema. */
  const successes = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId: id, responses }) =>
      Object.entries(responses).flatMap(([status, { content = {} }]) => {
        const media = content[JSON_TYPE];
        if (!status.startsWith('2') || !media) return [];
        const { example, examples = {} } = media;
        const written = [...(example === undefined ? [] : [example])];
        const all = [...written, ...Object.values(examples).map(({ value }) => value)];
        return [{ id, schema: media.schema, examples: all }];
      }),
    ),
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
function faultsOf(schema: Schema, value: unknown, at: string, isWhole = true): string[] {
  if (schema.$ref !== undefined) return faultsOf(named(schema) ?? {}, value, at, isWhole);
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
function partFaultsOf(schema: Schema, value: unknown, at: string, isWhole: boolean): string[] {
  const { allOf = [], type, properties } = schema;
  const isListed = schema.enum?.includes(value) ?? true;
  return [
    ...(isListed ? [] : [`${at} is none of the enum: ${JSON.stringify(value)}`]),
    ...allOf.flatMap((one) => faultsOf(one, value, at, false)),
    ...(type === 'object' || properties ? fieldFaultsOf(schema, value as object, at, isWhole) : []),
    ...itemFaultsOf(schema, value, at),
  ];
}

function itemFaultsOf({ items }: Schema, value: unknown, at: string): string[] {
  if (!Array.isArray(value) || !items) return [];
  return value.flatMap((one, row) => faultsOf(items, one, `${at}.${String(row)}`));
}

/** The fields that are absent, unknown or wrong. */
function fieldFaultsOf(schema: Schema, value: object, at: string, isWhole: boolean): string[] {
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
