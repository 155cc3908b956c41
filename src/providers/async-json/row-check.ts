import type { JsonObject } from '../../common/json-object.js';
import type { UpstreamTerms } from '../ports/attempt.js';
import type { VendorField } from './vendor-fields.js';
import type { VendorFile } from './vendor-file.js';
import { clashOf, leftOut, NO_IMAGE, submitOf } from './vendor-submit.js';
import { fieldsIn, filledTemplate, UnfitValue, type VendorValues } from './vendor-template.js';

/** What callers may ask of a model over one route, and what they pay for. */
export interface Selling {
  readonly terms: UpstreamTerms | undefined;
  /** Requests in which each value that callers may choose is there at least once. */
  readonly asked: readonly VendorValues[];
  /** The fields that a row may list for callers to choose of, each with where it does. */
  readonly listedIn: Readonly<Partial<Record<VendorField, string>>>;
  /** Those that this row lists. */
  readonly listed: readonly VendorField[];
  /** Fields that every body has to hold, though they are no choice of the row. */
  readonly needed: readonly VendorField[];
  /** What the price depends on, beside what is listed. */
  readonly priced: readonly VendorField[];
  /** A constant of these names chooses the price, and has to reach the vendor as the field. */
  readonly pricedConstants: Readonly<Record<string, VendorField>>;
  /** A field whose values only a pattern tells: none that a table could lack. */
  readonly ofPattern?: VendorField;
}

/**
 * What of it the file of its vendor cannot serve: one line for each field that the row lists and the body does not take, and for each
 * of the row's terms that changes what was priced. Each begins with the field of the row.
 */
export function sellingFaults(vendor: VendorFile, selling: Selling): string[] {
  const { terms } = selling;
  // Requests that the file itself excludes are refused when they come.
  const asked = selling.asked.filter(
    (values) => clashOf(submitOf(vendor, values, terms), values, terms).length === 0,
  );
  return [
    ...choiceFaults(vendor, { ...selling, asked }),
    ...termFaults(vendor, { ...selling, asked }),
  ];
}

function choiceFaults(vendor: VendorFile, selling: Selling): string[] {
  const faults = new Map<string, string>();
  for (const values of selling.asked) {
    for (const [field, says] of faultsOf(vendor, selling, values)) {
      const listed = selling.listedIn[field] ?? field;
      if (!faults.has(listed)) {
        faults.set(listed, `${listed}: ${says} the file of provider ${vendor.id}`);
      }
    }
  }
  return [...faults.values()];
}

/** What is not taken of one request, each with its field. */
function faultsOf(
  vendor: VendorFile,
  { terms, needed, ofPattern }: Selling,
  values: VendorValues,
): (readonly [VendorField, string])[] {
  try {
    const { body } = submitOf(vendor, values, terms);
    const { written } = filledTemplate(body, values, () => NO_IMAGE);
    const missing = [...leftOut(written, values), ...needed.filter((field) => !written.has(field))];
    return missing.map((field) => [field, `${field} is in no body of`]);
  } catch (error) {
    if (!(error instanceof UnfitValue)) throw error;
    const { field } = error;
    if (field === ofPattern) return [];
    return [[field, `${field} ${String(values[field])} is not taken by`]];
  }
}

/**
 * What the terms of a row do to each body in which its requests are sent: they act on the uppermost fields. A constant that chooses
 * the price has to be in all of these bodies, and what callers pay for must be changed in none.
 */
function termFaults(vendor: VendorFile, selling: Selling): string[] {
  const { asked, terms } = selling;
  const bodies = new Set(asked.map((values) => submitOf(vendor, values, terms).body));
  return [...new Set([...bodies].flatMap((body) => faultsInBody(vendor, selling, body)))];
}

function faultsInBody(
  vendor: VendorFile,
  { terms, listed, pricedConstants, ...selling }: Selling,
  body: JsonObject,
): string[] {
  const { drop = [], rename = {}, constants = {} } = terms ?? {};
  const held = new Map(Object.entries(body).map(([key, part]) => [key, fieldsIn(part)]));
  const holds = (key: string, field: VendorField): boolean =>
    held.get(key)?.includes(field) ?? false;
  const priced = [...new Set([...selling.priced, ...listed])];
  const changed = (key: string): VendorField | undefined =>
    priced.find((field) => holds(key, field));
  const told = (at: string, field: VendorField | undefined): string[] =>
    field === undefined ? [] : [`${at}: changes ${field}, which callers pay for, at ${vendor.id}`];
  return [
    ...drop.flatMap((key) => told(`drop: ${key}`, changed(key))),
    ...Object.entries(rename).flatMap(([from, to]) =>
      told(`rename.${from}`, changed(from) ?? changed(to)),
    ),
    ...Object.keys(constants).flatMap((key) => {
      const chosen = Object.hasOwn(pricedConstants, key) ? pricedConstants[key] : undefined;
      if (chosen === undefined) return told(`constants.${key}`, changed(key));
      if (holds(key, chosen))
        return listed.includes(chosen) ? told(`constants.${key}`, chosen) : [];
      return [
        `constants.${key}: is priced, and the file of provider ${vendor.id} does not send it as ${chosen}`,
      ];
    }),
  ];
}
