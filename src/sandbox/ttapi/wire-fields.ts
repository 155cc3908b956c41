import { asArray, asRecord, type JsonRecord, parseJson } from '../http/json.js';
import { WireFault } from '../http/protocol.js';
import { Magic } from '../magic-inputs.js';

/** A rule for one field. Returns what is wrong with a value, or undefined. */
export interface FieldRule {
  readonly isRequired: boolean;
  readonly complaint: (value: unknown) => string | undefined;
}

/** The rules of the fields of one operation. */
export type FieldRules = Readonly<Record<string, FieldRule>>;

const MAX_URL_CHARACTERS = 8192;

const optional = (complaint: FieldRule['complaint']): FieldRule => ({
  isRequired: false,
  complaint,
});

/** The same rule for a field that is required. */
export const required = (rule: FieldRule): FieldRule => ({ ...rule, isRequired: true });

/** Text of at most this many characters (code points). */
export const textField = (max: number): FieldRule =>
  optional((value) => {
    if (typeof value !== 'string') return 'must be a string';
    return Array.from(value).length > max ? `must have at most ${max} characters` : undefined;
  });

/** Text that is not empty. */
export const words = (max: number): FieldRule =>
  optional((value) => (value === '' ? 'must not be empty' : textField(max).complaint(value)));

export const flag = (): FieldRule =>
  optional((value) => (typeof value === 'boolean' ? undefined : 'must be a boolean'));

/** A number within bounds (inclusive). */
export const number = (min: number, max: number): FieldRule =>
  optional((value) =>
    typeof value === 'number' && value >= min && value <= max
      ? undefined
      : `must be a number from ${min} to ${max}`,
  );

/** A whole number within bounds (inclusive). */
export const wholeField = (min: number, max: number): FieldRule =>
  optional((value) =>
    Number.isInteger(value)
      ? number(min, max).complaint(value)
      : `must be a whole number from ${min} to ${max}`,
  );

export const oneOfField = (...allowed: readonly string[]): FieldRule =>
  optional((value) =>
    typeof value === 'string' && allowed.includes(value)
      ? undefined
      : `must be one of ${allowed.join(', ')}`,
  );

/** Text that matches a pattern. */
export const matching = (pattern: RegExp, description: string): FieldRule =>
  optional((value) =>
    typeof value === 'string' && pattern.test(value) ? undefined : `must be ${description}`,
  );

export const url = (): FieldRule =>
  optional((value) =>
    typeof value === 'string' && value.length <= MAX_URL_CHARACTERS && /^https?:\/\/./.test(value)
      ? undefined
      : 'must be a URL',
  );

/** A list whose number of items is within bounds; every item follows the rule. */
export const list = (min: number, max: number, item: FieldRule): FieldRule =>
  optional((value) => {
    const items = asArray(value);
    if (items === undefined || items.length < min || items.length > max) {
      return `must be a list of ${min} to ${max} items`;
    }
    return items.map((each) => item.complaint(each)).find((complaint) => complaint !== undefined);
  });

/** The checked fields of one body. */
export class WireFields {
  constructor(private readonly values: JsonRecord) {}

  has(name: string): boolean {
    return this.values[name] !== undefined;
  }

  /** A text without its magic inputs; empty where the field is absent. */
  text(name: string): string {
    const value = this.values[name];
    return typeof value === 'string' ? Magic.strip(value) : '';
  }

  texts(name: string): readonly string[] {
    return (asArray(this.values[name]) ?? []).map(String);
  }

  flag(name: string): boolean {
    return this.values[name] === true;
  }

  number(name: string, otherwise = 0): number {
    const value = this.values[name];
    return typeof value === 'number' ? value : otherwise;
  }

  /** All fields as JSON. Equal work gives equal text. */
  toString(): string {
    return JSON.stringify(this.values);
  }
}

/** The JSON body of an operation. Throws 400 and names the first field that is unknown, missing or wrong. */
export function readFields(body: Buffer, rules: FieldRules): WireFields {
  const fields = asRecord(parseJson(body)) ?? refuseSong('The body must be a JSON object');
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(rules, name));
  if (unknown !== undefined) refuseSong(`${unknown}: is not a field of this operation`);
  for (const [name, { isRequired, complaint }] of Object.entries(rules)) {
    const value = fields[name];
    if (value === undefined && isRequired) refuseSong(`${name}: is required`);
    const wrong = value === undefined ? undefined : complaint(value);
    if (wrong !== undefined) refuseSong(`${name}: ${wrong}`);
  }
  return new WireFields(fields);
}

/** Throws a 400 answer. */
export function refuseSong(message: string): never {
  throw new WireFault({ status: 400, message });
}
