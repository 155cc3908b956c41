import { PAID_ENDPOINTS } from '../../support/paid-endpoints.js';
import { mutated, type Random } from '../../media/fuzz.js';
import { wavFile } from '../../media/wav-file.js';
import { damagedJson, JSON_TYPE, picked, request } from './damage.js';
import { withKnownFields } from './known-fields.js';
import { type FuzzInput, type FuzzWorld, operatorCall, reading, submission } from './operations.js';

const BOUNDARY = 'B';
const TEN_SECONDS = wavFile(80_000);
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

/** The next request: valid JSON, forms and heads, damaged in places that matter. */
export function fuzzInput(key: string, world: FuzzWorld, random: Random): FuzzInput {
  const kind = random(20);
  if (kind < 5) return json(key, world, random);
  if (kind < 10) return form(key, random);
  if (kind < 13) return submission(key, world, random);
  if (kind < 15) return reading(key, world, random);
  return kind < 17 ? operatorCall(world, random) : raw(key, random);
}

function json(key: string, { mediaUrl }: FuzzWorld, random: Random): FuzzInput {
  const { path, body } = picked(PAID_ENDPOINTS, random);
  const recording = random(2) === 0 ? mediaUrl : 'https://192.0.2.1/a.wav';
  const bytes = damagedJson(withKnownFields(path, body(recording), random), random);
  return { what: `json ${path}`, bytes: request(key, 'POST', path, [JSON_TYPE], bytes, random) };
}

function form(key: string, random: Random): FuzzInput {
  const { path, body } = picked(PAID_ENDPOINTS.slice(4, 8), random);
  const fields = Object.entries(body('')).filter(([name]) => name !== 'audio_url');
  const parts = fields.map(([name, value]) => part(`name="${name}"`, Buffer.from(String(value))));
  parts.push(
    part(
      'name="file"; filename="a.wav"',
      mutated(TEN_SECONDS, TEN_SECONDS, random).subarray(0, random(200_000)),
    ),
  );
  if (random(2) === 0) parts.splice(random(parts.length), 0, Buffer.from(picked(PARTS, random)));
  if (random(4) === 0) parts.splice(random(parts.length), 1);
  if (random(3) > 0) parts.push(Buffer.from(`--${BOUNDARY}--\r\n`));
  let bytes: Buffer = Buffer.concat(parts);
  if (random(3) === 0) bytes = mutated(bytes, bytes, random);
  const type = `Content-Type: multipart/form-data${random(3) === 0 ? picked(TYPES, random) : `; boundary=${BOUNDARY}`}`;
  return { what: `form ${path}`, bytes: request(key, 'POST', path, [type], bytes, random) };
}

const part = (disposition: string, content: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`),
    content,
    Buffer.from('\r\n'),
  ]);

function raw(key: string, random: Random): FuzzInput {
  const headers = Array.from({ length: random(4) }, () => picked(HEADERS, random));
  if (random(8) === 0) headers.push(...Array.from({ length: 300 }, (_, index) => `H${index}: 1`));
  const whole = request(
    key,
    picked(METHODS, random),
    picked(PATHS, random),
    headers,
    Buffer.from('{}'),
    random,
  );
  return { what: 'raw', bytes: random(2) === 0 ? mutated(whole, whole, random) : whole };
}
