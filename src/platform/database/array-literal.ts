/** What needs no quotes in an array: neither a separator, a quote, white space nor the word for null. */
const PLAIN = /^(?!null$)[\w:./+-]+$/i;

/** What an array may hold. */
export type Column = readonly (string | number | boolean | null | undefined)[];

/**
 * A list as PostgreSQL writes an array. The driver's own form quotes and searches each element, which takes as long as the rest of a
 * statement with thousands of them.
 */
export function arrayLiteral(values: Column): string {
  let text = '{';
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (index > 0) text += ',';
    if (value === null || value === undefined) text += 'NULL';
    else text += typeof value === 'string' ? element(value) : String(value);
  }
  return `${text}}`;
}

function element(value: string): string {
  return PLAIN.test(value) ? value : `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** An array of words or numbers without quotes, as PostgreSQL writes it; undefined for any other text. */
export function plainArray(text: string): (string | null)[] | undefined {
  if (text.includes('"') || text.includes('{', 1) || !text.startsWith('{')) return undefined;
  if (text === '{}') return [];
  return text
    .slice(1, -1)
    .split(',')
    .map((value) => (value === 'NULL' ? null : value));
}
