import { readFileSync } from 'node:fs';
import { PAID_ENDPOINTS } from '../../support/paid-endpoints.js';
import type { Random } from '../../media/fuzz.js';
import { wavFile } from '../../media/wav-file.js';
import { picked } from './damage.js';
import type { FuzzInput } from './operations.js';

interface ApiDocument {
  readonly paths: Readonly<
    Record<string, { post?: { requestBody?: { content: Readonly<Record<string, unknown>> } } }>
  >;
}

const API = JSON.parse(
  readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'),
) as ApiDocument;

/** Every endpoint that takes a form, by the document of the API. */
const FORM_PATHS = Object.entries(API.paths).flatMap(([path, { post }]) =>
  post?.requestBody && 'multipart/form-data' in post.requestBody.content ? [path] : [],
);
const VIDEO = { model: 'vid-motion', prompt: 'The sea', seconds: '5' };
const RECORDING = wavFile(80_000).toString('latin1');
const BOUNDARY = 'B';

/** Bytes are written as latin1 characters. `undefined` means: without it. */
type Text = string | undefined;

const LINE_ENDS = ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\n\r\n'];
const NAMES: readonly Text[] = [
  undefined,
  '',
  'model',
  'file',
  'audio_url',
  'prompt',
  'a[]',
  'a[0]',
  'a[99999999]',
  'a[b][c]',
  '[',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  '%22%0d%0a',
  'a\\"b',
  '\xff\xfe',
  'caf\xc3\xa9',
  '\0',
  '\xef\xbf\xbd',
  'n'.repeat(150),
  'n'.repeat(9_000),
];
const FILE_NAMES: readonly Text[] = [
  undefined,
  undefined,
  undefined,
  '',
  'a.wav',
  '../../etc/passwd',
  '\0',
  '\xff',
  'C:\\fake\\a.wav',
  'f'.repeat(5_000),
];
const EXTENDED_NAMES: readonly Text[] = [
  undefined,
  undefined,
  undefined,
  undefined,
  "utf-8''a.wav",
  "utf-8''%ff",
  "utf-8''%zz",
  "latin1'en'%e9",
  "x-none''a",
  "''",
  "'",
  '',
];
const TYPES: readonly Text[] = [
  undefined,
  undefined,
  'text/plain',
  'text/plain; charset=utf-8',
  'text/plain; charset=UTF-16LE',
  'text/plain; charset=latin1',
  'text/plain; charset=x-none',
  'text/plain; charset=',
  'text/plain; charset="utf-8',
  'application/octet-stream',
  'application/json',
  'audio/wav',
  'multipart/mixed; boundary=B',
  '',
  '/',
  '\xff',
];
const TRANSFER_ENCODINGS: readonly Text[] = [
  undefined,
  undefined,
  undefined,
  'base64',
  'quoted-printable',
  'binary',
  '8bit',
  'x-none',
  '',
];
const DISPOSITIONS: readonly Text[] = [
  'form-data',
  'form-data',
  'form-data',
  'form-data',
  'form-data',
  undefined,
  '',
  'attachment',
  'FORM-DATA',
  'form-data;',
  'form-data;;',
  'form-data; name',
  'form-data; name=',
  'form-data; name="',
  'form-data; ="a"',
  '; name="a"',
];
const CONTENTS = [
  '',
  'aud-transcribe-v2',
  'true',
  'null',
  '\xff',
  '\xef\xbf\xbd',
  '\xef\xbf\xbd\xff',
  '\xc3',
  '\xed\xa0\x80',
  '\xef\xbb\xbftext',
  '\0',
  '\r\n',
  '\r\n--',
  '\r\n--B',
  '--B--',
  '\n--B--\n',
  't'.repeat(20_000),
  't'.repeat(500_000),
  RECORDING,
  RECORDING.slice(0, 3_000),
];
const OTHER_HEADERS = [
  'X: 1',
  'X',
  ': x',
  'X: a\r\n b',
  'X : 1',
  `X: ${'a'.repeat(20_000)}`,
  Array.from({ length: 2_100 }, (_, index) => `H${index}: 1`).join('\r\n'),
  'Content-Disposition',
  '\0: x',
];
const PREAMBLES = ['', '', '', '', '\r\n', '\n', 'preamble\r\n', '\r\n\r\n', '--', '--B', '\xff'];
const EPILOGUES = ['', '', '\r\n', '\n', 'epilogue', '\r\n--B--\r\n', '--', '\xff\0'];
const ENDS = ['--B--', '--B--', '--B--', '--B--', '--B--', '', '--B', '--B-', '--B--B', '--b--'];
const FORM_TYPES = [
  'multipart/form-data; boundary=B',
  'multipart/form-data; boundary=B',
  'multipart/form-data; boundary=B',
  'multipart/form-data; boundary=B',
  'multipart/form-data; boundary="B"',
  'multipart/form-data; charset=utf-8; boundary=B',
  'Multipart/Form-Data; Boundary=B;',
  'multipart/form-data; boundary=B; boundary=C',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary=BB',
];

/**
 * In a form, one time in so many a rule of the grammar takes any of its branches; else the one that makes a valid form. Forms
 * with little that is odd come far into the code.
 */
const ODD_ONE_IN = [4, 15, 60, 60];

/**
 * A form that the grammar of multipart bodies makes: each header of a part absent, empty, doubled or hostile, each line end,
 * preamble, epilogue and end.
 */
export function formInput(key: string, random: Random): FuzzInput {
  const path = picked(FORM_PATHS, random);
  const oddOneIn = picked(ODD_ONE_IN, random);
  const odd = <T>(usual: T, branches: readonly T[]): T =>
    random(oddOneIn) === 0 ? picked(branches, random) : usual;
  const fields = Object.entries(fieldsOf(path)).filter(() => random(12) > 0);
  const parts = fields.map(([name, value]) => part({ name, value }, odd, random));
  if (path !== VIDEO_PATH && random(6) > 0) {
    const file = { name: 'file', value: RECORDING, fileName: 'a.wav' };
    parts.splice(random(parts.length + 1), 0, part(file, odd, random));
  }
  for (let added = odd(0, [1, 1, 2]) + (oddOneIn === 4 ? 1 : 0); added > 0; added -= 1) {
    const any = {
      name: picked(NAMES, random),
      value: picked(CONTENTS, random),
      fileName: picked(FILE_NAMES, random),
    };
    parts.splice(random(parts.length + 1), 0, part(any, odd, random));
  }
  const body = [odd('', PREAMBLES), ...parts, odd('--B--', ENDS), odd('\r\n', EPILOGUES)].join('');
  return { what: `form ${path}`, bytes: requestOf(key, path, odd, body) };
}

const VIDEO_PATH = '/v1/videos';

function fieldsOf(path: string): Readonly<Record<string, unknown>> {
  if (path === VIDEO_PATH) return VIDEO;
  const endpoint = PAID_ENDPOINTS.find((one) => one.path === path);
  if (!endpoint) throw new Error(`no fields are known for ${path}`);
  const { audio_url: _sentAsFile, ...fields } = endpoint.body('');
  return fields;
}

type Odd = <T>(usual: T, branches: readonly T[]) => T;

interface Part {
  readonly name: Text;
  readonly value: unknown;
  readonly fileName?: Text;
}

function part({ name, value, fileName }: Part, odd: Odd, random: Random): string {
  const parameters = [
    quoted('name', odd(name, NAMES)),
    ...(odd(false, [true]) ? [quoted('name', picked(NAMES, random))] : []),
    quoted('filename', odd(fileName, FILE_NAMES)),
    bare('filename*', odd(undefined, EXTENDED_NAMES)),
  ];
  const disposition = odd('form-data', DISPOSITIONS);
  const headers = [
    header('Content-Disposition', disposition && disposition + parameters.join('')),
    header('Content-Type', odd(fileName === undefined ? undefined : 'audio/wav', TYPES)),
    header('Content-Transfer-Encoding', odd(undefined, TRANSFER_ENCODINGS)),
    ...(odd(false, [true]) ? [picked(OTHER_HEADERS, random)] : []),
  ].flatMap((line) => line ?? []);
  const doubled = odd(undefined, headers);
  if (doubled !== undefined) headers.push(doubled);
  if (random(20) === 0) headers.reverse();
  const end = odd('\r\n', LINE_ENDS);
  const head = [`--${BOUNDARY}`, ...headers, '', ''].join(end);
  return head + String(odd(value, CONTENTS)) + odd('\r\n', LINE_ENDS);
}

function quoted(name: string, value: Text): string {
  return value === undefined ? '' : `; ${name}="${value}"`;
}

function bare(name: string, value: Text): string {
  return value === undefined ? '' : `; ${name}=${value}`;
}

function header(name: string, value: Text): Text {
  return value === undefined ? undefined : `${name}: ${value}`;
}

function requestOf(key: string, path: string, odd: Odd, body: string): Buffer {
  const type = odd('multipart/form-data; boundary=B', FORM_TYPES);
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: shim',
    `Authorization: Bearer ${key}`,
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}
