import { readFileSync } from 'node:fs';
import type { Random } from '../../media/fuzz.js';
import { NUMBERS, picked } from './damage.js';

/** The parts of a JSON schema that the document of the API has. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly example?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly discriminator?: { readonly mapping: Readonly<Record<string, string>> };
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

interface ApiDocument {
  readonly paths: Readonly<
    Record<
      string,
      { post?: { requestBody?: { content: Record<string, { schema: Schema } | undefined> } } }
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const API = JSON.parse(
  readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'),
) as ApiDocument;
const MAX_FIELDS = 3;
const MAX_TEXT = 5_000;
const MAX_ITEMS = 12;
/** Deeper than any body of the API. */
const MAX_DEPTH = 6;

/**
 * In half of the cases a copy of a body for that path with up to three of the fields that the document of the API names. The values are of the
 * right kind, and at the limits or beside them, so that they come further than values of any kind.
 */
export function withKnownFields(path: string, body: object, random: Random): object {
  const known = Object.entries(bodySchema(path, body).properties ?? {});
  // The document tells fields of a form that JSON takes too, all but its file.
  const properties = known.filter(([, { format }]) => format !== 'binary');
  if (properties.length === 0 || random(2) === 0) return body;
  const added = Array.from({ length: random(MAX_FIELDS + 1) }, () => {
    const [name, schema] = picked(properties, random);
    // Another model than the rest of the body is for would end at the first check.
    return name === 'model' ? [] : [[name, valueOf(schema, random)] as const];
  });
  return { ...body, ...Object.fromEntries(added.flat()) };
}

function bodySchema(path: string, body: object): Schema {
  const { 'application/json': json, 'multipart/form-data': form } =
    API.paths[path]?.post?.requestBody?.content ?? {};
  const schema = (json ?? form)?.schema ?? {};
  const model = 'model' in body ? String(body.model) : '';
  const $ref = schema.discriminator?.mapping[model];
  return resolved($ref === undefined ? schema : { $ref });
}

function resolved(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  return API.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {};
}

function valueOf(named: Schema, random: Random, depth = 0): unknown {
  const schema = resolved(named);
  const branches = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (depth > MAX_DEPTH) return null;
  if (branches) return valueOf(picked(branches, random), random, depth + 1);
  if (schema.enum && random(4) > 0) return picked(schema.enum, random);
  return MAKERS[schema.type ?? 'string']?.(schema, random, depth + 1) ?? textOf(schema, random);
}

const MAKERS: Readonly<Record<string, (schema: Schema, random: Random, depth: number) => unknown>> =
  {
    number: numberOf,
    integer: numberOf,
    boolean: (_schema, random) => random(2) === 0,
    array: ({ maxItems = MAX_ITEMS, items = {} }, random, depth) =>
      Array.from({ length: random(maxItems + 2) }, () => valueOf(items, random, depth)),
    object: ({ properties = {} }, random, depth) => {
      const chosen = Object.entries(properties).filter(() => random(3) > 0);
      return Object.fromEntries(
        chosen.map(([name, schema]) => [name, valueOf(schema, random, depth)]),
      );
    },
  };

function numberOf({ minimum = 0, maximum = 100 }: Schema, random: Random): number {
  const steps = [0, 0, 1, -1, 0.01, -0.01, 1e-7];
  if (random(3) === 0) return picked(NUMBERS, random);
  return picked([minimum, maximum, (minimum + maximum) / 2], random) + picked(steps, random);
}

function textOf({ minLength = 0, maxLength = 100, example }: Schema, random: Random): unknown {
  if (example !== undefined && random(2) === 0) return example;
  const length = picked([minLength - 1, minLength, maxLength, maxLength + 1], random);
  return picked(['a', '😀', ' ', '1'], random).repeat(Math.min(MAX_TEXT, Math.max(0, length)));
}
