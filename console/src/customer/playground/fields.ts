import { type ApiDocument, bodySchemaOf, type FieldSchema, resolved } from '../api-document.js';

/** How a field of a form is filled. */
type FieldKind =
  'text' | 'long-text' | 'number' | 'flag' | 'choice' | 'file' | 'json' | 'either' | 'messages';

interface Bounds {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** A field of the form, made from the schema of the body and the limits of the model. */
export interface FormField extends Bounds {
  readonly name: string;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  readonly description: string;
  readonly isInteger: boolean;
  /** The only values, or values that are proposed. */
  readonly choices: readonly string[];
}

/** What is in a field: a text as it was typed, whether it is ticked, or a file. Empty texts are not sent. */
export type FieldDraft = string | boolean | File;
export type Drafts = Readonly<Record<string, FieldDraft>>;

/** What the form sends. */
export interface FilledBody {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, File>>;
  /** Why a field cannot be sent, by its name. */
  readonly faults: Readonly<Record<string, string>>;
}

interface ModelOfForm {
  readonly id: string;
  readonly parameters: readonly string[];
  readonly limits: Readonly<Record<string, unknown>>;
  readonly supported_voices: readonly string[] | null;
  readonly supported_endpoint_types: readonly string[];
  readonly price: { readonly by_seconds?: Readonly<Record<string, string>> };
  /** The path that its parameters are those of. */
  readonly endpoint: string;
}

const LONG = 300;
const LONG_NAMES = /^(prompt|input|text|lyrics|instructions|system|negative_prompt)$/;

/** The fields that the model takes, without its name; the required ones first. `path`: of the operation. */
export function formFieldsOf(
  document: ApiDocument,
  path: string,
  model: ModelOfForm,
): readonly FormField[] {
  const body = bodySchemaOf(document, path, model.id);
  const all = Object.entries(body.properties ?? {}).flatMap(([name, schema]) => {
    const field = isTaken(name, path, model) ? fieldOf(document, name, schema, model) : undefined;
    return field === undefined
      ? []
      : [{ ...field, isRequired: body.required?.includes(name) ?? false }];
  });
  return [...all.filter(({ isRequired }) => isRequired), ...all.filter((one) => !one.isRequired)];
}

function isTaken(name: string, path: string, model: ModelOfForm): boolean {
  if (name === 'model' || name.endsWith('[]')) return false;
  // A text model lists the fields of chats only; its other operations are translated to them.
  if (model.endpoint === path && !model.parameters.includes(name)) return false;
  if (!model.supported_endpoint_types.includes('compat-video')) return true;
  const {
    sizes,
    size_pattern: pattern,
    aspect_ratios: ratios,
    max_image_urls: most,
  } = model.limits;
  if (name === 'size') return sizes !== undefined || pattern !== undefined;
  if (name === 'aspect_ratio') return ratios !== undefined;
  return name !== 'image_urls' || most !== 0;
}

function fieldOf(
  document: ApiDocument,
  name: string,
  written: FieldSchema,
  model: ModelOfForm,
): Omit<FormField, 'isRequired'> | undefined {
  const schema = resolved(document, written);
  const variants = (schema.oneOf ?? schema.anyOf ?? []).map((one) => resolved(document, one));
  const bounds = boundsOf(schema, model.limits[name]);
  const listed = [schema, ...variants].flatMap((one) => one.enum ?? []);
  const choices = listed.filter((one) => one !== null).map(String);
  if (takesOneValue(schema, choices, bounds)) return undefined;
  const sold = soldOf(model, name);
  const voices = name === 'voice' ? model.supported_voices : null;
  return {
    ...bounds,
    name,
    kind: sold === undefined ? kindOf(name, schema, variants) : 'choice',
    description: written.description ?? schema.description ?? '',
    isInteger: schema.type === 'integer',
    choices: sold ?? voices ?? choices,
  };
}

/** Whether the field names what is done anyway. */
const takesOneValue = (
  schema: FieldSchema,
  choices: readonly string[],
  { min, max }: Bounds,
): boolean =>
  (schema.enum !== undefined && choices.length < 2) || (min !== undefined && min === max);

/** The bounds of a number: those of the model, where it has its own. */
function boundsOf({ minimum, maximum }: FieldSchema, limits: unknown): Bounds {
  return { min: minimum, max: maximum, ...(limits as Bounds | undefined) };
}

/** The only values that the model takes where its schema names none: sizes, aspect ratios, lengths of videos. */
function soldOf({ limits, price }: ModelOfForm, name: string): readonly string[] | undefined {
  if (name === 'seconds' && price.by_seconds !== undefined) return Object.keys(price.by_seconds);
  const listed = limits[`${name}s`];
  return Array.isArray(listed) ? listed.map(String) : undefined;
}

function kindOf(name: string, schema: FieldSchema, variants: readonly FieldSchema[]): FieldKind {
  if (schema.format === 'binary') return 'file';
  if (variants.length > 0) return kindOfVariants(name, variants);
  if (schema.type === 'boolean') return 'flag';
  if (schema.type === 'integer' || schema.type === 'number') return 'number';
  if (schema.type !== 'string') return name === 'messages' ? 'messages' : 'json';
  if (schema.enum !== undefined) return 'choice';
  return isLong(name, schema) ? 'long-text' : 'text';
}

/** Of several types: texts only are a text; a text or something else may be typed either way. */
function kindOfVariants(name: string, variants: readonly FieldSchema[]): FieldKind {
  const texts = variants.filter(({ type }) => type === 'string');
  if (texts.length < variants.length) return texts.length === 0 ? 'json' : 'either';
  return texts.some((text) => isLong(name, text)) ? 'long-text' : 'text';
}

const isLong = (name: string, { maxLength = 0, format }: FieldSchema): boolean =>
  LONG_NAMES.test(name) || (maxLength > LONG && format !== 'uri' && !name.endsWith('_url'));

/** What is in the fields for a body of the document's examples. */
export function draftsOf(
  body: Readonly<Record<string, unknown>>,
  fields: readonly FormField[],
): Drafts {
  return Object.fromEntries(
    fields.flatMap(({ name, kind }) => {
      const value = body[name];
      return value === undefined ? [] : [[name, draftOf(kind, value)]];
    }),
  );
}

function draftOf(kind: FieldKind, value: unknown): FieldDraft {
  if (kind === 'flag') return value === true;
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** The body that the fields make, with what is wrong in them. */
export function filled(fields: readonly FormField[], drafts: Drafts): FilledBody {
  const body: Record<string, unknown> = {};
  const files: Record<string, File> = {};
  const faults: Record<string, string> = {};
  for (const field of fields) {
    const draft = drafts[field.name];
    if (draft instanceof File) files[field.name] = draft;
    else {
      const { value, fault } = valueOf(field, draft);
      if (value !== undefined) body[field.name] = value;
      if (fault !== undefined) faults[field.name] = fault;
    }
  }
  return { fields: body, files, faults };
}

interface Read {
  readonly value?: unknown;
  readonly fault?: string;
}

function valueOf(field: FormField, draft: string | boolean | undefined): Read {
  const { kind, isRequired } = field;
  // What was never ticked is left to the gateway; what was unticked again is sent as false.
  if (kind === 'flag') return { value: isRequired ? draft === true : draft };
  const typed = typeof draft === 'string' ? draft : '';
  if (typed.trim() === '') return isRequired ? { fault: 'This is required.' } : {};
  if (kind === 'number') return numberIn(field, typed);
  if (kind === 'json' || kind === 'messages') return jsonIn(typed);
  return { value: kind === 'either' ? eitherIn(typed) : typed };
}

function numberIn({ isInteger, min, max }: FormField, typed: string): Read {
  const value = Number(typed);
  if (!Number.isFinite(value)) return { fault: 'Type a number.' };
  if (isInteger && !Number.isSafeInteger(value)) return { fault: 'Type a whole number.' };
  if (min !== undefined && value < min) return { fault: `At least ${min}.` };
  if (max !== undefined && value > max) return { fault: `At most ${max}.` };
  return { value };
}

function jsonIn(typed: string): Read {
  try {
    return { value: JSON.parse(typed) as unknown };
  } catch (error) {
    return { fault: error instanceof Error ? `This is no JSON: ${error.message}` : String(error) };
  }
}

/** A text as it stands, but a list or an object where it is one. */
function eitherIn(typed: string): unknown {
  if (!/^\s*[[{]/.test(typed)) return typed;
  const { value } = jsonIn(typed);
  return value ?? typed;
}
