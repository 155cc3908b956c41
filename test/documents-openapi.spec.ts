import { describe, expect, it } from '@jest/globals';
import {
  components,
  namedSchema,
  operations,
  type OpenApiSchema,
  paths,
} from './support/openapi-document.js';

/** A sentence of its own; the default alone, or a word, tells nobody what a field is for. */
const isSentence = (text = ''): boolean => /^(?!Default ).{5,}/s.test(text);

/** The fields of a schema and of all that it refers to, as `Class.field`, with what is said of each. */
function* fieldsOf(
  schema: OpenApiSchema,
  name: string,
  seen: Set<string>,
): Generator<[string, string | undefined]> {
  const { $ref: reference, properties = {}, items, allOf = [], oneOf = [] } = schema;
  if (reference !== undefined) {
    const own = namedSchema(schema);
    if (own && !seen.has(reference)) yield* fieldsOf(own, nameOf(reference), seen.add(reference));
  }
  for (const [field, of] of Object.entries(properties)) {
    yield [`${name}.${field}`, of.description ?? namedSchema(of)?.description];
    yield* fieldsOf(of, `${name}.${field}`, seen);
  }
  for (const part of [...(items ? [items] : []), ...allOf, ...oneOf])
    yield* fieldsOf(part, name, seen);
}
const nameOf = (reference: string): string => reference.split('/').at(-1) ?? '';
const resolved = (response: OpenApiSchema): object | undefined =>
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
      expect([model, namedSchema({ $ref: reference })?.title?.split(', ')]).toEqual([
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
