import { asArray, asRecord, type JsonRecord, parseJson } from '../http/json.js';
import { WireFault } from '../http/protocol.js';
import type { TwinFile, TwinSubmit } from './twin-file.js';

/** Fields of a request by their names, as texts. Of an image only its presence counts. */
type FoundValues = Readonly<Record<string, string>>;

const FIELD = /\{\{([^{}]*)\}\}/;
const DEFAULT_SECONDS = '5';
const MAX_SECONDS = 60;
/** Of a longer prompt only the beginning is kept. */
const MAX_PROMPT_CHARACTERS = 32_000;
const LONG_SIDE = 640;
const DEFAULT_SIDES = '16:9';

/** A video as the body of a submission asks for it. */
export interface AskedVideo {
  readonly prompt: string;
  /** Whole seconds. */
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  /** The caller's own name of the job; empty where the vendor takes none. */
  readonly reference: string;
}

/**
 * What the body of a submission asks for, by the first of these ways whose template it was made of. A prompt that is not where the
 * template has it (a row of the catalog may rename its field) is the text of the body. Throws `WireFault` 400 for a body of none of
 * the ways, and for a length that the sandbox does not make.
 */
export function askedVideo(
  { submit }: TwinFile,
  ways: readonly TwinSubmit[],
  body: Buffer,
  modelInPath: string | undefined,
): AskedVideo {
  const json = asRecord(parseJson(body)) ?? refused('The body is no JSON object.');
  const path: FoundValues = modelInPath === undefined ? {} : { model: modelInPath };
  const values =
    ways
      .map((way) => ({ way, found: { ...path, ...valuesOfKeys(way.body ?? submit.body, json) } }))
      .find(({ way, found }) => fits(way, found))?.found ??
    refused('The body lacks what this path is for.');
  const { seconds = DEFAULT_SECONDS, reference = '', prompt = body.toString() } = values;
  if (!/^[1-9]\d?$/.test(seconds) || Number(seconds) > MAX_SECONDS) {
    refused(`The length must be 1 to ${MAX_SECONDS} whole seconds.`);
  }
  const text = prompt.slice(0, MAX_PROMPT_CHARACTERS);
  return { prompt: text, seconds: Number(seconds), reference, ...sidesOf(values) };
}

function refused(message: string): never {
  throw new WireFault({ status: 400, message });
}

function fits({ models, has }: TwinSubmit, values: FoundValues): boolean {
  const { model = '' } = values;
  const isModel = (form: string): boolean =>
    form.endsWith('*') ? model.startsWith(form.slice(0, -1)) : form === model;
  return (models?.some(isModel) ?? true) && (has?.some((name) => name in values) ?? true);
}

/** The sides of the drawn picture: the shape is that which was asked for, the size is not. */
function sidesOf({ aspect_ratio: ratio, size }: FoundValues) {
  const pattern = /^([1-9]\d{0,3})[x:]([1-9]\d{0,3})$/;
  const [, width, height] = pattern.exec(ratio ?? size ?? '') ?? pattern.exec(DEFAULT_SIDES) ?? [];
  const scale = LONG_SIDE / Math.max(Number(width), Number(height));
  // Both sides are even numbers of pixels, as most players require.
  const side = (share: unknown) => Math.max(2, Math.round((Number(share) * scale) / 2) * 2);
  return { width: side(width), height: side(height) };
}

/** Keys that the template does not have are passed over: a row of the catalog may add some. */
function valuesOfKeys(template: JsonRecord, json: JsonRecord): FoundValues {
  const found = Object.entries(template).map(([key, part]) => valuesIn(part, json[key]));
  return Object.assign({}, ...found) as FoundValues;
}

/** The values that a part of a template took to become this; undefined where it cannot become this. */
function valuesIn(part: unknown, value: unknown): FoundValues | undefined {
  // What names an absent field is left out.
  if (value === undefined) return {};
  if (typeof part === 'string') return valuesInText(part, value);
  if (Array.isArray(part)) return valuesInList(part, asArray(value) ?? []);
  const template = asRecord(part);
  if (!template) return part === value ? {} : undefined;
  const { $field: field, $inline: inlined, table } = template;
  if (typeof inlined === 'string') return { [inlined]: 'given' };
  if (typeof field === 'string') return { [field]: castBack(value, asRecord(table) ?? {}) };
  return valuesInObject(template, asRecord(value));
}

function castBack(value: unknown, table: JsonRecord): string {
  const [chosen] = Object.entries(table).find(([, to]) => to === value) ?? [];
  return chosen ?? textOf(value);
}

function valuesInObject(template: JsonRecord, json: JsonRecord | undefined) {
  const isMade = Object.entries(template).every(([key, part]) => valuesIn(part, json?.[key]));
  return json && isMade ? valuesOfKeys(template, json) : undefined;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

function valuesInText(text: string, value: unknown): FoundValues | undefined {
  const names: string[] = [];
  const pieces = text.split(FIELD).map((piece, index) => {
    if (index % 2 === 0) return literal(piece);
    names.push(piece);
    return piece === 'prompt' ? '([^]*)' : '([^]{0,4096}?)';
  });
  const found = new RegExp(`^${pieces.join('')}$`).exec(textOf(value));
  return found
    ? Object.fromEntries(names.map((name, index) => [name, found[index + 1] ?? '']))
    : undefined;
}

/** Entries of absent fields are left out of a list, so that each entry may be anywhere in it. */
function valuesInList(template: readonly unknown[], items: readonly unknown[]): FoundValues {
  const found = template.flatMap((part) => {
    const { $each: each, item: inner } = asRecord(part) ?? {};
    return items.map((item) => {
      const values = valuesIn(each === undefined ? part : inner, item);
      return values && typeof each === 'string' ? { ...values, [each]: 'given' } : values;
    });
  });
  return Object.assign({}, ...found) as FoundValues;
}

/** A text as a regular expression that matches it alone. */
export function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
