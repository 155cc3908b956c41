import { mutated, type Random } from '../../media/fuzz.js';

/** The header of a JSON body. */
export const JSON_TYPE = 'Content-Type: application/json';
const TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e',
  '😀',
  'a'.repeat(5_000),
  '__proto__',
  '../..',
  "' OR 1=1",
  '<svg/onload=1>',
  'http://127.0.0.1/',
  'file:///etc/passwd',
];
/** Numbers at the limits of their notations: JavaScript writes some with an exponent, with a point or without one. */
export const NUMBERS: readonly number[] = [
  0, -1, 0.1, 1.005, 1e-7, -1.5e-7, 5e-324, 1e21, 1e308, 2_147_483_648, 4_294_967_296,
  9_007_199_254_740_991,
];
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  ...NUMBERS,
  [],
  {},
  [[]],
  [null],
  { a: { b: {} } },
  ...TEXTS,
];
const LITERALS = [
  '1e999',
  '-0',
  'NaN',
  '01',
  '"\\u12"',
  '{"a":1,"a":2}',
  '[1,]',
  '/**/',
  '"\n"',
  '0x1',
];
const NAMES = [
  '__proto__',
  'constructor',
  'model',
  'stream',
  'webhook',
  '',
  'a.b',
  'toString',
  'input',
  'n',
];

/** Any one of them. */
export const picked = <T>(items: readonly T[], random: Random): T =>
  items[random(items.length)] as T;

/** A copy with one value replaced, removed or added, somewhere. */
function damaged(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random(6) === 0) return other(value, random);
  if (Array.isArray(value)) {
    if (random(3) === 0) return Array.from({ length: random(200) }, () => value[0] as unknown);
    return value.map((item: unknown) => (random(2) === 0 ? damaged(item, random) : item));
  }
  const entries = Object.entries(value);
  const at = random(entries.length + 1);
  if (at === entries.length) entries.push([picked(NAMES, random), picked(VALUES, random)]);
  else if (random(4) === 0) entries.splice(at, 1);
  else entries[at] = [entries[at]?.[0] ?? '', damaged(entries[at]?.[1], random)];
  return Object.fromEntries(entries);
}

/** Another value: in half of the cases a number in the place of a number. */
function other(value: unknown, random: Random): unknown {
  return picked(typeof value === 'number' && random(2) === 0 ? NUMBERS : VALUES, random);
}

/**
 * In most cases JSON of a damaged copy; sometimes the text itself is damaged. An undamaged one gets further into the
 * code.
 */
export function damagedJson(value: unknown, random: Random): Buffer {
  if (random(5) < 2) return Buffer.from(JSON.stringify(value));
  let text = JSON.stringify(damaged(value, random));
  if (random(4) === 0) text = spliced(text, picked(LITERALS, random), random);
  if (random(10) === 0) text = '['.repeat(1 + random(50_000)) + text;
  const bytes = Buffer.from(text);
  return random(5) === 0 ? mutated(bytes, bytes, random) : bytes;
}

function spliced(text: string, piece: string, random: Random): string {
  const at = random(text.length + 1);
  return text.slice(0, at) + piece + text.slice(at + random(10));
}

/** In most cases a request with a false length that asks to close the connection. */
export function request(
  key: string,
  method: string,
  path: string,
  headers: readonly string[],
  body: Buffer,
  random: Random,
): Buffer {
  const length = random(12) === 0 ? Math.max(0, body.length + random(20) - 10) : body.length;
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: shim',
    ...(random(12) === 0 ? [] : [`Authorization: Bearer ${key}`]),
    ...headers,
    `Content-Length: ${length}`,
    ...(random(6) === 0 ? [] : ['Connection: close']),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}
