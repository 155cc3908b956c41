import { asArray, asRecord, type JsonRecord, parseJson } from '../http/json.js';
import { WireFault } from '../http/protocol.js';
import type { TwinFile, TwinSubmit } from './twin-file.js';

/** Fields of a request by their names, as texts. Of an image only its presence counts. */
type FoundValues = Readonly<Record<string, string>>;

const FIELD = /\{\{([^{}]*)\}\}/;
const PROMPT = 'prompt';
/** No value but the prompt is longer. */
const MAX_VALUE_CHARACTERS = 4_096;
const DEFAULT_SECONDS = '5';
/** A longer video or track is played for so long. */
const MAX_SECONDS = 60;
const MAX_CHARACTER_BYTES = 4;
/** Of a longer prompt only the beginning is kept. */
const MAX_PROMPT_CHARACTERS = 32_000;
const LONG_SIDE = 640;
const WHOLE = /^[1-9]\d{0,5}$/;
const MAX_IMAGES = 10;
const DEFAULT_SIZE = '1024x1024';
/** A larger image is drawn so large. */
const MAX_SIDE = 2_048;
const DEFAULT_SIDES = '16:9';

/** A job as the body of a submission asks for it. */
export interface AskedJob {
  readonly prompt: string;
  /** What is sung; empty where nothing was given. */
  readonly lyrics: string;
  readonly isInstrumental: boolean;
  /** Whole seconds of a video or of a track. */
  readonly seconds: number;
  /** How many images. */
  readonly count: number;
  readonly width: number;
  readonly height: number;
  /** The caller's own name of the job; empty where the vendor takes none. */
  readonly reference: string;
  /** What a list of jobs tells of it, by the paths of `lookup.same`. */
  readonly echoed: JsonRecord;
}

/**
 * What the body of a submission asks for, by the first of these ways whose template it was made of. A prompt that is not where the
 * template has it (a row of the catalog may rename its field) is the text of the body. Throws `WireFault` 400 for a body of none of
 * the ways, and for a length or a number that is not whole.
 */
export function askedJob(
  { submit, lookup, operation }: Pick<TwinFile, 'submit' | 'lookup' | 'operation'>,
  ways: readonly TwinSubmit[],
  body: Buffer,
  modelInPath: string | undefined,
): AskedJob {
  const json = asRecord(parseJson(body)) ?? refused('The body is no JSON object.');
  const path: FoundValues = modelInPath === undefined ? {} : { model: modelInPath };
  const values = bestOf(
    ways.flatMap((way) => {
      const { found, fitting } = keysOf(way.body ?? submit.body, json);
      const values = { ...path, ...found };
      return fits(way, values) ? [{ values, fitting }] : [];
    }),
  );
  const { seconds = DEFAULT_SECONDS, reference = '', prompt = beginOf(body) } = values;
  const { count = '1', lyrics = '' } = values;
  if (!WHOLE.test(seconds)) refused('The length must be whole seconds.');
  if (!WHOLE.test(count)) refused('The number of images must be a whole number.');
  return {
    prompt: ownText(prompt.slice(0, MAX_PROMPT_CHARACTERS)),
    lyrics: ownText(lyrics.slice(0, MAX_PROMPT_CHARACTERS)),
    isInstrumental: values.instrumental === 'true',
    seconds: Math.min(Number(seconds), MAX_SECONDS),
    count: Math.min(Number(count), MAX_IMAGES),
    reference: ownText(reference),
    echoed: echoOf(values, lookup?.same),
    ...(operation === 'image' ? sidesOfImage(values) : sidesOf(values)),
  };
}

/** What is told at each path of a job with these values: what names an absent field is left out. */
function echoOf(values: FoundValues, same: JsonRecord = {}): JsonRecord {
  const told = Object.entries(same).flatMap(([path, part]) => {
    const value = typeof part === 'string' ? textOfMarks(part, values) : castOf(part, values);
    return value === undefined ? [] : [[path, value] as const];
  });
  return Object.fromEntries(told);
}

function textOfMarks(text: string, values: FoundValues): string | undefined {
  const pieces = text.split(FIELD);
  const names = pieces.filter((_, index) => index % 2 === 1);
  if (!names.every((name) => Object.hasOwn(values, name))) return undefined;
  const filled = pieces.map((piece, index) => (index % 2 === 1 ? valueOf(piece, values) : piece));
  return ownText(filled.join(''));
}

function castOf(part: unknown, values: FoundValues): unknown {
  const { $field: field, as, table } = asRecord(part) ?? {};
  if (typeof field !== 'string' || !Object.hasOwn(values, field)) return undefined;
  const text = ownText(valueOf(field, values));
  const chosen = asRecord(table)?.[text];
  if (chosen !== undefined) return chosen;
  if (as === 'boolean') return text === 'true';
  return as === 'integer' || as === 'number' ? Number(text) : text;
}

const valueOf = (name: string, values: FoundValues): string =>
  (values[name] ?? '').slice(0, MAX_PROMPT_CHARACTERS);

/** The values of the way of which the body has most keys; of two with equally many, those of the first. */
function bestOf(ways: readonly { values: FoundValues; fitting: number }[]): FoundValues {
  const most = Math.max(...ways.map(({ fitting }) => fitting));
  return (
    ways.find(({ fitting }) => fitting === most)?.values ??
    refused('The body lacks what this path is for.')
  );
}

const beginOf = (body: Buffer): string =>
  body.toString('utf8', 0, MAX_PROMPT_CHARACTERS * MAX_CHARACTER_BYTES);

/** A copy: a part of a text keeps the whole text in memory, here a body of up to 60 MB. */
const ownText = (text: string): string => Buffer.from(text).toString();

function refused(message: string): never {
  throw new WireFault({ status: 400, message });
}

function fits({ models, has }: TwinSubmit, values: FoundValues): boolean {
  const { model } = values;
  // Neither the path nor the body may say it: then the keys of the body decide.
  const isModel = (form: string): boolean =>
    model === undefined ||
    (form.endsWith('*') ? model.startsWith(form.slice(0, -1)) : form === model);
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

function sidesOfImage({ width, height, size = `${width ?? ''}x${height ?? ''}` }: FoundValues) {
  const pattern = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/;
  const [, wide, high] = pattern.exec(size) ?? pattern.exec(DEFAULT_SIZE) ?? [];
  return { width: Math.min(Number(wide), MAX_SIDE), height: Math.min(Number(high), MAX_SIDE) };
}

/**
 * What the keys of a body say, and how many of them are of the template. Keys that the template does not have are passed over: a row
 * of the catalog may add some.
 */
function keysOf(template: JsonRecord, json: JsonRecord) {
  const parts = Object.entries(template).filter(([key]) => json[key] !== undefined);
  const found = parts.map(([key, part]) => valuesIn(part, json[key]));
  return { found: merged(found), fitting: found.filter(Boolean).length };
}

const merged = (found: readonly (FoundValues | undefined)[]): FoundValues =>
  Object.fromEntries(found.flatMap((values = {}) => Object.entries(values)));

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
  const found = Object.entries(template).map(([key, part]) => valuesIn(part, json?.[key]));
  return json && found.every(Boolean) ? merged(found) : undefined;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** A value between fixed pieces of a text: its name, and the piece after it or, behind the prompt, before it. */
interface Mark {
  readonly name: string;
  readonly fixed: string;
}

/**
 * The values of a text, in time that grows with its length alone. Those before the prompt, or all where there is none, end where the
 * next fixed piece comes first, and those behind it begin where it comes last, so that the prompt may have such pieces in it.
 */
function valuesInText(template: string, value: unknown): FoundValues | undefined {
  const pieces = template.split(FIELD);
  const text = textOf(value);
  const [head = '', ...rest] = pieces;
  if (rest.length === 0) return text === head ? {} : undefined;
  const tail = pieces.at(-1) ?? '';
  const isEnclosed = text.startsWith(head) && text.endsWith(tail);
  if (!isEnclosed || text.length < head.length + tail.length) return undefined;
  const inner = text.slice(head.length, text.length - tail.length);
  const names = pieces.filter((_, index) => index % 2 === 1);
  const between = pieces.filter((_, index) => index % 2 === 0).slice(1, -1);
  // The value that takes what the others leave.
  const widest = names.includes(PROMPT) ? names.indexOf(PROMPT) : names.length - 1;
  const before = names.slice(0, widest).map((name, at) => ({ name, fixed: between[at] ?? '' }));
  const behind = names.slice(widest + 1).map((name, at) => {
    return { name, fixed: between[widest + at] ?? '' };
  });
  return cut(inner, names[widest] ?? '', { before, behind: behind.reverse() });
}

function cut(
  text: string,
  widest: string,
  { before, behind }: { readonly before: readonly Mark[]; readonly behind: readonly Mark[] },
): FoundValues | undefined {
  const found: [name: string, value: string][] = [];
  let from = 0;
  for (const { name, fixed } of before) {
    const to = text.indexOf(fixed, from);
    if (to < 0) return undefined;
    found.push([name, text.slice(from, to)]);
    from = to + fixed.length;
  }
  let end = text.length;
  for (const { name, fixed } of behind) {
    const at = text.lastIndexOf(fixed, end - fixed.length);
    if (at < from || at + fixed.length > end) return undefined;
    found.push([name, text.slice(at + fixed.length, end)]);
    end = at;
  }
  found.push([widest, text.slice(from, end)]);
  const isLong = ([name, { length }]: [string, string]) =>
    name !== PROMPT && length > MAX_VALUE_CHARACTERS;
  return found.some(isLong) ? undefined : Object.fromEntries(found);
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
  return merged(found);
}

/** A text as a regular expression that matches it alone. */
export function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
