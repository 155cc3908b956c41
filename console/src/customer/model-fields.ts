import type { Shape } from '../shared/api.js';
import { count } from '../shared/money.js';
import { type ApiDocument, bodySchemaOf, type FieldSchema, resolved } from './api-document.js';

type Model = Shape<'ModelDetailView'>;

/** A field of the requests of a model. */
export interface ModelField {
  readonly name: string;
  readonly isRequired: boolean;
  /** The values that it takes, in words. */
  readonly takes: string;
  readonly meaning: string;
}

/** What a field takes that is known to others and not offered here. */
const NOTHING = 'null';

/** The fields that requests for a model may have, the required ones first. */
export function fieldsOf(model: Model, document: ApiDocument): readonly ModelField[] {
  const body = bodySchemaOf(document, model.endpoint, model.id, model.canonical_slug);
  const required = new Set(body.required ?? []);
  const fields = model.parameters.map((name) => {
    const schema = resolved(document, body.properties?.[name] ?? {});
    return {
      name,
      isRequired: required.has(name),
      takes: takenBy(name, schema, model),
      meaning: schema.description ?? '',
    };
  });
  const taken = fields.filter(({ takes }) => takes !== NOTHING);
  return [...taken].sort((one, other) => Number(other.isRequired) - Number(one.isRequired));
}

interface Bounds {
  readonly values?: readonly unknown[];
  readonly min?: number;
  readonly max?: number;
  readonly max_length?: number;
}

/** Limits of a row under names that are not those of the field. */
const LIMIT_OF_FIELD: Readonly<Record<string, string>> = {
  input: 'max_input',
  size: 'sizes',
  aspect_ratio: 'aspect_ratios',
  resolution: 'resolutions',
  image_urls: 'max_image_urls',
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
};
const COUNTED: Readonly<Record<string, string>> = {
  input: 'characters',
  image_urls: 'URLs',
  max_tokens: 'tokens',
  max_completion_tokens: 'tokens',
};

/** What a field takes: what the model says comes before what the document says of every model. */
function takenBy(name: string, schema: FieldSchema, model: Model): string {
  const chosen = chosenFrom(name, model);
  if (chosen !== undefined) return chosen;
  const limits = model.limits as Readonly<Record<string, unknown>>;
  const own = limits[LIMIT_OF_FIELD[name] ?? ''];
  if (Array.isArray(own)) return own.join(', ');
  if (typeof own === 'number') return `at most ${count(own)} ${COUNTED[name] ?? ''}`;
  const said = limits[name];
  return inWords(schema, typeof said === 'object' && said !== null ? said : {});
}

/** What the row offers besides its limits. */
function chosenFrom(name: string, model: Model): string | undefined {
  if (name === 'model') return model.id;
  if (name === 'voice' && model.supported_voices) return 'a voice, see below';
  const lengths = name === 'seconds' ? Object.keys(model.price.by_seconds ?? {}) : [];
  return lengths.length > 0 ? lengths.join(', ') : undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'list',
  boolean: 'true, false',
};

function inWords(schema: FieldSchema, bounds: Bounds): string {
  const values = bounds.values ?? schema.enum;
  if (values !== undefined) return values.map(String).join(', ');
  const { type = 'JSON' } = schema;
  return rangeIn(schema, bounds) ?? sizeIn(schema, bounds) ?? TYPES[type] ?? type;
}

function rangeIn(schema: FieldSchema, bounds: Bounds): string | undefined {
  const [min, max] = [bounds.min ?? schema.minimum, bounds.max ?? schema.maximum];
  if (max === undefined) return min === undefined ? undefined : `at least ${count(min)}`;
  if (max >= Number.MAX_SAFE_INTEGER) return 'whole number';
  if (min === undefined) return `at most ${count(max)}`;
  return min === max ? count(min) : `${count(min)} to ${count(max)}`;
}

function sizeIn(schema: FieldSchema, bounds: Bounds): string | undefined {
  const characters = bounds.max_length ?? schema.maxLength;
  if (characters !== undefined) return `text, at most ${count(characters)} characters`;
  return schema.maxItems === undefined
    ? undefined
    : `list, at most ${count(schema.maxItems)} items`;
}

const LIMITS: readonly (readonly [string, string, string])[] = [
  ['context_length', 'Prompt and answer', 'tokens together'],
  ['max_output_tokens', 'Answer', 'tokens'],
  ['max_input', 'Text', 'characters'],
  ['max_input_tokens', 'Each input', 'tokens'],
  ['max_inputs', 'Inputs of a call', ''],
  ['max_image_urls', 'Images', ''],
  ['max_voices', 'Voices of a dialogue', ''],
  ['min_seconds', 'Shortest', 'seconds'],
  ['max_seconds', 'Longest', 'seconds'],
];

/** The bounds of a request, in words. */
export function limitsOf({ limits }: Model): readonly (readonly [string, string])[] {
  const known = limits as Readonly<Record<string, unknown>>;
  return LIMITS.flatMap(([field, name, unit]) => {
    const value = known[field];
    return typeof value === 'number' ? [[name, `${count(value)} ${unit}`.trim()] as const] : [];
  });
}
