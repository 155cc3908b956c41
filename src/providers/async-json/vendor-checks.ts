import { isJsonObject, type JsonObject } from '../../common/json-object.js';

/** Adds what is wrong with a value to the faults, each with its path in the file. */
export interface VendorCheck {
  (value: unknown, at: string, faults: string[]): void;
  /** As much of the check as JSON Schema can say. */
  readonly schema: JsonObject;
}

/** A check with its schema. */
export const checkOf = (
  schema: JsonObject,
  run: (value: unknown, at: string, faults: string[]) => void,
): VendorCheck => Object.assign(run, { schema });

const under = (at: string, name: string | number): string =>
  at === '' ? String(name) : `${at}.${name}`;

/** A text with this form. */
export const formed = (form: RegExp, says: string): VendorCheck =>
  checkOf({ type: 'string', pattern: form.source }, (value, at, faults) => {
    if (typeof value !== 'string' || !form.test(value)) faults.push(`${at}: must be ${says}`);
  });

/** A value for which the test holds. */
export const holding = (
  test: (value: unknown) => boolean,
  says: string,
  schema: JsonObject,
): VendorCheck =>
  checkOf(schema, (value, at, faults) => {
    if (!test(value)) faults.push(`${at}: must be ${says}`);
  });

/** A whole number from 1 to `max`. */
export const wholeUpTo = (max: number, says = `a whole number from 1 to ${max}`): VendorCheck =>
  holding(
    (value) => Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= max,
    says,
    { type: 'integer', minimum: 1, maximum: max },
  );

/** One of these words. */
export const eitherOf = (words: readonly string[]): VendorCheck =>
  holding((value) => words.includes(value as string), `one of ${words.join(', ')}`, {
    enum: words,
  });

/** A list of `min` to `max` entries. */
export const listed = (entry: VendorCheck, max: number, min = 1): VendorCheck =>
  checkOf(
    { type: 'array', items: entry.schema, minItems: min, maxItems: max },
    (value, at, faults) => {
      if (!Array.isArray(value) || value.length < min || value.length > max) {
        faults.push(`${at}: must be a list of ${min} to ${max} entries`);
        return;
      }
      value.forEach((one, index) => {
        entry(one, under(at, index), faults);
      });
    },
  );

/** An object with keys that are free, of a form. */
export const mapped = (key: VendorCheck, entry: VendorCheck, max: number): VendorCheck =>
  checkOf(
    {
      type: 'object',
      propertyNames: key.schema,
      additionalProperties: entry.schema,
      minProperties: 1,
      maxProperties: max,
    },
    (value, at, faults) => {
      const entries = isJsonObject(value) ? Object.entries(value) : [];
      if (entries.length === 0 || entries.length > max) {
        faults.push(`${at}: must be an object of 1 to ${max} keys`);
        return;
      }
      for (const [name, one] of entries) {
        key(name, under(at, name), faults);
        entry(one, under(at, name), faults);
      }
    },
  );

/** An object with these fields and no others. A name that ends with `?` may be absent. */
export const shaped = (fields: Readonly<Record<string, VendorCheck>>): VendorCheck =>
  checkOf(schemaOfShape(fields), (value, at, faults) => {
    if (!isJsonObject(value)) {
      faults.push(`${at === '' ? 'the file' : at}: must be a JSON object`);
      return;
    }
    const known = Object.keys(fields).map((name) => name.replace('?', ''));
    for (const name of Object.keys(value)) {
      if (!known.includes(name)) faults.push(`${under(at, name)}: is no known field`);
    }
    for (const [name, check] of Object.entries(fields)) {
      const key = name.replace('?', '');
      if (Object.hasOwn(value, key)) check(value[key], under(at, key), faults);
      else if (key === name) faults.push(`${under(at, key)}: is required`);
    }
  });

function schemaOfShape(fields: Readonly<Record<string, VendorCheck>>): JsonObject {
  const entries = Object.entries(fields).map(([name, { schema }]) => [
    name.replace('?', ''),
    schema,
  ]);
  const required = Object.keys(fields).filter((name) => !name.endsWith('?'));
  return {
    type: 'object',
    properties: Object.fromEntries(entries) as JsonObject,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}
