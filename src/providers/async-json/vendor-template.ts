import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { VendorField } from './vendor-fields.js';
import type { InlineImage } from '../http/inline-images.js';

/** A field in a text. */
export const MARK = /\{\{([^{}]*)\}\}/g;

/** The values of the fields; an absent one is undefined. */
export type VendorValues = Readonly<Partial<Record<VendorField, unknown>>>;

/** The image of a URL. */
export type InlineOf = (url: string) => InlineImage;

/** A value that the file's table or cast does not take. */
export class UnfitValue extends Error {
  override readonly name = 'UnfitValue';

  constructor(readonly field: VendorField) {
    super(field);
  }
}

/**
 * The body that the template makes of the values. Keys and entries whose field is absent are left out, and so is an object or a
 * list of which every field is absent. Throws {@link UnfitValue}, and what `inline` throws.
 */
export function filledTemplate(
  template: JsonObject,
  values: VendorValues,
  inline: InlineOf,
): { readonly body: JsonObject; readonly written: ReadonlySet<VendorField> } {
  const filling = new Filling(inline);
  const body = filling.keys(template, values);
  return { body, written: filling.written };
}

class Filling {
  /** The fields that are in the body. */
  readonly written = new Set<VendorField>();

  constructor(private readonly inline: InlineOf) {}

  /** Undefined where every field of it is absent. */
  of(template: unknown, values: VendorValues): unknown {
    if (typeof template === 'string') return this.noted(filledText(template, values), template);
    if (Array.isArray(template)) return this.list(template, values);
    if (!isJsonObject(template)) return template;
    const { $field: field, $inline: inlined } = template;
    if (field !== undefined)
      return this.noted(castValue(field as VendorField, values, template), template);
    if (inlined !== undefined)
      return this.noted(this.bytes(values[inlined as VendorField], template.as), template);
    return isAbsent(template, values) ? undefined : this.keys(template, values);
  }

  keys(template: JsonObject, values: VendorValues): JsonObject {
    const made: [string, unknown][] = [];
    for (const [key, part] of Object.entries(template)) {
      const value = this.of(part, values);
      if (value !== undefined) made.push([key, value]);
    }
    return Object.fromEntries(made);
  }

  /** The value; where there is one, what it was made of is in the body. */
  private noted<Value>(value: Value, template: unknown): Value {
    if (value !== undefined) for (const field of fieldsIn(template)) this.written.add(field);
    return value;
  }

  private list(template: readonly unknown[], values: VendorValues): unknown {
    const made: unknown[] = [];
    for (const part of template) {
      const each = isJsonObject(part) ? part.$each : undefined;
      if (each === undefined) made.push(this.of(part, values));
      else made.push(...this.each(part as JsonObject, values));
    }
    const filled = made.filter((value) => value !== undefined);
    return isAbsent(template, values) ? undefined : filled;
  }

  private each(part: JsonObject, values: VendorValues): unknown[] {
    const list = values[part.$each as VendorField];
    const made: unknown[] = [];
    for (const item of Array.isArray(list) ? (list as unknown[]) : []) {
      made.push(this.of(part.item, { ...values, item }));
    }
    return made.length > 0 ? this.noted(made, part) : made;
  }

  private bytes(url: unknown, as: unknown): unknown {
    if (typeof url !== 'string') return undefined;
    const { contentType, token } = this.inline(url);
    return as === 'base64' ? token : `data:${contentType};base64,${token}`;
  }
}

/** Whether the part names fields, and all of them are absent. */
function isAbsent(part: unknown, values: VendorValues): boolean {
  const named = fieldsIn(part);
  return named.length > 0 && named.every((field) => values[field] === undefined);
}

/** The fields that a part of a body names, those of an entry of `$each` counted as the list. */
export function fieldsIn(part: unknown): VendorField[] {
  if (typeof part === 'string') {
    return [...part.matchAll(MARK)].map(([, name]) => name as VendorField);
  }
  if (Array.isArray(part)) return part.flatMap(fieldsIn);
  if (!isJsonObject(part)) return [];
  const { $field: field, $inline: inlined, $each: each } = part;
  const named = field ?? inlined ?? each;
  return typeof named === 'string' ? [named as VendorField] : Object.values(part).flatMap(fieldsIn);
}

function filledText(text: string, values: VendorValues): string | undefined {
  const isWhole = fieldsIn(text).every((field) => values[field] !== undefined);
  if (!isWhole) return undefined;
  return text.replaceAll(MARK, (_mark, name: VendorField) => textOf(values[name]));
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

function castValue(
  field: VendorField,
  { [field]: value }: VendorValues,
  { as, table }: JsonObject,
): unknown {
  if (value === undefined) return undefined;
  if (isJsonObject(table)) {
    const text = textOf(value);
    if (!Object.hasOwn(table, text)) throw new UnfitValue(field);
    return table[text];
  }
  if (as === 'string') return textOf(value);
  if (as === 'boolean') {
    if (!/^(true|false)$/.test(textOf(value))) throw new UnfitValue(field);
    return textOf(value) === 'true';
  }
  if (as === undefined) return value;
  const number = Number(value);
  const fits = as === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number);
  if (!fits) throw new UnfitValue(field);
  return number;
}

/** A name in a path, whose slashes stay. No step leads up. */
export function inPath(name: string): string {
  const steps = name.split('/').filter((step) => step !== '.' && step !== '..');
  return steps.map(encodeURIComponent).join('/');
}

/** The path of the API with these words in it. */
export function pathWith(
  path: string,
  words: Readonly<Record<'id' | 'model' | 'variant', string>> & {
    readonly value?: string;
    readonly reference?: string;
  },
): string {
  return path.replaceAll(/\{(id|model|reference|value|variant)\}/g, (_mark, name: string) => {
    if (name === 'model') return inPath(words.model);
    return encodeURIComponent(words[name as 'id' | 'reference' | 'value' | 'variant'] ?? '');
  });
}
