import { PAID_ENDPOINTS } from '../../support/paid-endpoints.js';
import { mutated, type Random } from '../../media/fuzz.js';
import { wavFile } from '../../media/wav-file.js';

/** One request as bytes, to be sent in pieces. */
export interface FuzzInput {
  readonly what: string;
  readonly bytes: Buffer;
}

const BOUNDARY = 'B';
const TEN_SECONDS = wavFile(80_000);
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
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1e308,
  0.1,
  9_007_199_254_740_991,
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
const HEADERS = [
  'Content-Length: 5',
  'Content-Length: -1',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Host: other',
  'Expect: 100-continue',
  'Expect: x',
  'Content-Encoding: gzip',
  'Content-Type: text/plain',
  'Content-Type: application/json; charset=utf-16',
  'Connection: upgrade',
  'Upgrade: websocket',
  'Authorization: Bearer x',
  'Idempotency-Key: a',
  'X: \u0001',
  'Range: bytes=0-,5-1',
  `X-Long: ${'a'.repeat(9_000)}`,
];
const PATHS = [
  '/',
  '//',
  '/v1',
  '/v1/',
  '/v1/audio/speech/',
  '/v1/audio/..',
  '/%2e%2e/metrics',
  '/v1/models/%00',
  '/v1/models/%',
  'http://other/v1/models',
  '*',
  '/v1/tasks/x',
  '/docs',
  '/docs/../package.json',
  '/openapi.json',
  '/admin/accounts',
  '/sandbox/media/%2e%2e%2fx',
  `/${'a'.repeat(4_000)}`,
];
const METHODS = [
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'TRACE',
  'CONNECT',
  'BREW',
];
const TYPES = [
  '',
  ';',
  '; boundary=',
  '; boundary="B',
  '; boundary=a b',
  ';;;boundary=B',
  '; boundary=é',
  '; boundary=BB',
  '; charset=x; boundary=B',
];
const PARTS = [
  '--B\r\n',
  '--B--\r\n',
  '\r\n\r\n',
  'Content-Disposition: form-data; name="model"\r\n',
  'name=""',
  'filename=""',
  "filename*=utf-8''%00",
  '\0',
];

const oneOf = <T>(items: readonly T[], random: Random): T => items[random(items.length)] as T;

/** The next request: valid JSON, forms and heads, damaged where it hurts. */
export function fuzzInput(key: string, random: Random): FuzzInput {
  const kind = random(10);
  if (kind < 5) return json(key, random);
  return kind < 8 ? form(key, random) : raw(key, random);
}

function json(key: string, random: Random): FuzzInput {
  const { path, body } = oneOf(PAID_ENDPOINTS, random);
  let text = JSON.stringify(damaged(body('https://192.0.2.1/a.wav'), random));
  if (random(4) === 0) text = spliced(text, oneOf(LITERALS, random), random);
  if (random(10) === 0) text = '['.repeat(1 + random(50_000)) + text;
  const bytes =
    random(5) === 0 ? mutated(Buffer.from(text), Buffer.from(text), random) : Buffer.from(text);
  return {
    what: `json ${path}`,
    bytes: request(key, 'POST', path, ['Content-Type: application/json'], bytes, random),
  };
}

/** A copy with one value replaced, removed or added, somewhere. */
function damaged(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random(6) === 0) return oneOf(VALUES, random);
  if (Array.isArray(value)) {
    if (random(3) === 0) return Array.from({ length: random(200) }, () => value[0] as unknown);
    return value.map((item: unknown) => (random(2) === 0 ? damaged(item, random) : item));
  }
  const entries = Object.entries(value);
  const at = random(entries.length + 1);
  if (at === entries.length) entries.push([oneOf(NAMES, random), oneOf(VALUES, random)]);
  else if (random(4) === 0) entries.splice(at, 1);
  else entries[at] = [entries[at]?.[0] ?? '', damaged(entries[at]?.[1], random)];
  return Object.fromEntries(entries);
}

function form(key: string, random: Random): FuzzInput {
  const { path, body } = oneOf(PAID_ENDPOINTS.slice(4, 8), random);
  const fields = Object.entries(body('')).filter(([name]) => name !== 'audio_url');
  const parts = fields.map(([name, value]) => part(`name="${name}"`, Buffer.from(String(value))));
  parts.push(
    part(
      'name="file"; filename="a.wav"',
      mutated(TEN_SECONDS, TEN_SECONDS, random).subarray(0, random(200_000)),
    ),
  );
  if (random(2) === 0) parts.splice(random(parts.length), 0, Buffer.from(oneOf(PARTS, random)));
  if (random(4) === 0) parts.splice(random(parts.length), 1);
  if (random(3) > 0) parts.push(Buffer.from(`--${BOUNDARY}--\r\n`));
  let bytes: Buffer = Buffer.concat(parts);
  if (random(3) === 0) bytes = mutated(bytes, bytes, random);
  const type = `Content-Type: multipart/form-data${random(3) === 0 ? oneOf(TYPES, random) : `; boundary=${BOUNDARY}`}`;
  return { what: `form ${path}`, bytes: request(key, 'POST', path, [type], bytes, random) };
}

const part = (disposition: string, content: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`),
    content,
    Buffer.from('\r\n'),
  ]);

function raw(key: string, random: Random): FuzzInput {
  const headers = Array.from({ length: random(4) }, () => oneOf(HEADERS, random));
  if (random(8) === 0) headers.push(...Array.from({ length: 300 }, (_, index) => `H${index}: 1`));
  const whole = request(
    key,
    oneOf(METHODS, random),
    oneOf(PATHS, random),
    headers,
    Buffer.from('{}'),
    random,
  );
  return { what: 'raw', bytes: random(2) === 0 ? mutated(whole, whole, random) : whole };
}

/** A request whose length may lie, and which asks for the connection to be closed, mostly. */
function request(
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

function spliced(text: string, piece: string, random: Random): string {
  const at = random(text.length + 1);
  return text.slice(0, at) + piece + text.slice(at + random(10));
}
