import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ProviderFigures } from '../../common/money/charge-basis.js';

/** Headers in which vendors report the cost of a response. */
const HEADERS = ['character-cost', 'x-character-count'];
/** Fields in which vendors report it, as paths from the root of the response or of a chunk. */
const FIELDS: readonly (readonly string[])[] = [
  ['usage', 'cost'],
  ['usage', 'cost_in_usd_ticks'],
  ['usage', 'cost_details', 'upstream_inference_cost'],
  ['quota'],
  ['data', 'quota'],
  ['cost'],
  ['extra_info', 'usage_characters'],
  ['final_unit_deduction'],
  ['data', 'final_unit_deduction'],
];
/** Form of a figure; a longer text is none. */
const FIGURE_TEXT = /^[0-9][0-9.,eE+-]{0,39}$/;

/** The cost that the headers of a response report, unchanged; undefined if they report none. */
export function figuresOfHeaders(
  headers: Readonly<Record<string, unknown>>,
): ProviderFigures | undefined {
  return figuresOf(HEADERS.map((name) => [name, headers[name]]));
}

/** The cost that a response or a chunk reports, under the dotted paths of the fields. */
export function figuresOfBody(json: JsonObject): ProviderFigures | undefined {
  return figuresOf(FIELDS.map((path) => [path.join('.'), valueAt(json, path)]));
}

function figuresOf(named: readonly (readonly [string, unknown])[]): ProviderFigures | undefined {
  const figures = named.filter((entry): entry is [string, number | string] => isFigure(entry[1]));
  return figures.length === 0 ? undefined : Object.fromEntries(figures);
}

function isFigure(value: unknown): boolean {
  return typeof value === 'number'
    ? Number.isFinite(value)
    : typeof value === 'string' && FIGURE_TEXT.test(value);
}

function valueAt(json: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return json;
  return isJsonObject(json) ? valueAt(json[name], rest) : undefined;
}
