import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ProviderFigures } from '../../common/money/charge-basis.js';

/** Headers in which vendors report the cost of a response. */
const HEADERS = ['character-cost', 'x-character-count'];
/** Fields in which vendors report it, as paths from the root of the response or of a chunk. */
const FIELDS = [
  ['usage', 'cost'],
  ['usage', 'cost_in_usd_ticks'],
  ['usage', 'cost_details', 'upstream_inference_cost'],
  ['quota'],
  ['data', 'quota'],
  ['cost'],
  ['extra_info', 'usage_characters'],
  ['final_unit_deduction'],
  ['data', 'final_unit_deduction'],
].map((path) => ({ name: path.join('.'), path }));
/** The name of the figure at the place that a vendor's file names (`cost`). */
export const VENDOR_COST = 'vendor_cost';
type Figures = Record<string, number | string>;

/** Form of a figure; a longer text is none. */
const FIGURE_TEXT = /^[0-9][0-9.,eE+-]{0,39}$/;

/** The cost that the headers of a response report, unchanged; undefined if they report none. */
export function figuresOfHeaders(
  headers: Readonly<Record<string, unknown>>,
): ProviderFigures | undefined {
  let figures: Figures | undefined;
  for (const name of HEADERS) {
    const value = headers[name];
    if (isFigure(value)) (figures ??= {})[name] = value;
  }
  return figures;
}

/** The cost that a response or a chunk reports, under the dotted paths of the fields. Every chunk is looked at. */
export function figuresOfBody(json: JsonObject): ProviderFigures | undefined {
  let figures: Figures | undefined;
  for (const { name, path } of FIELDS) {
    const value = valueAt(json, path);
    if (isFigure(value)) (figures ??= {})[name] = value;
  }
  return figures;
}

/** Whether a value can be a figure of the cost. */
export function isFigure(value: unknown): value is number | string {
  return typeof value === 'number'
    ? Number.isFinite(value)
    : typeof value === 'string' && FIGURE_TEXT.test(value);
}

function valueAt(json: JsonObject, path: readonly string[]): unknown {
  let value: unknown = json;
  for (const name of path) {
    if (!isJsonObject(value)) return undefined;
    value = value[name];
  }
  return value;
}
