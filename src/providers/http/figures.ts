import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ProviderFigures } from '../../common/money/provider-figures.js';

/** Headers in which vendors tell what an answer cost. */
const HEADERS = ['character-cost', 'x-character-count'];
/** Fields in which they do, as paths from the root of the answer or of a chunk. */
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
/** A longer text is no figure. */
const FIGURE_TEXT = /^[0-9][0-9.,eE+-]{0,39}$/;

/** What the headers of an answer say that it cost, as they came; undefined when they say nothing. */
export function figuresOfHeaders(
  headers: Readonly<Record<string, unknown>>,
): ProviderFigures | undefined {
  return figuresOf(HEADERS.map((name) => [name, headers[name]]));
}

/** What an answer or a chunk says that it cost, under the dotted paths of the fields. */
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
