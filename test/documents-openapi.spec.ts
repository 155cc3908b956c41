import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

interface Schema {
  readonly $ref?: string;
  readonly title?: string;
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
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

const { paths, components } = JSON.parse(
  readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'),
) as OpenApi;
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

  it('say of each parameter what it is for', () => {
    const bare = operations.flatMap(({ operationId: id, parameters = [] }) =>
      parameters
        .filter(({ $ref: reference, description }) => !reference && !isSentence(description))
        .map(({ name }) => `${id} ${name}`),
    );
    expect(bare).toEqual([]);
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
