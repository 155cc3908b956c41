import { readFileSync } from 'node:fs';
import { PAID_ENDPOINTS } from '../../support/paid-endpoints.js';
import type { Random } from '../../media/fuzz.js';
import { picked } from './damage.js';
import {
  LINE_ENDS,
  NAMES,
  FILE_NAMES,
  EXTENDED_NAMES,
  TYPES,
  TRANSFER_ENCODINGS,
  DISPOSITIONS,
  CONTENTS,
  OTHER_HEADERS,
  PREAMBLES,
  EPILOGUES,
  ENDS,
  FORM_TYPES,
  RECORDING,
  type FormText,
} from './form-words.js';
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
const EDIT = { model: 'gen-image-edit-demo', prompt: 'The sea', n: 2 };
/** It begins as a PNG does. */
const PICTURE = '\x89PNG\r\n\x1a\n and more';
const BOUNDARY = 'B';

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
    const file =
      path === EDITS_PATH
        ? { name: 'image', value: PICTURE, fileName: 'a.png' }
        : { name: 'file', value: RECORDING, fileName: 'a.wav' };
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
const EDITS_PATH = '/v1/images/edits';

function fieldsOf(path: string): Readonly<Record<string, unknown>> {
  if (path === VIDEO_PATH) return VIDEO;
  if (path === EDITS_PATH) return EDIT;
  const endpoint = PAID_ENDPOINTS.find((one) => one.path === path);
  if (!endpoint) throw new Error(`no fields are known for ${path}`);
  const { audio_url: _sentAsFile, ...fields } = endpoint.body('');
  return fields;
}

type Odd = <T>(usual: T, branches: readonly T[]) => T;

interface Part {
  readonly name: FormText;
  readonly value: unknown;
  readonly fileName?: FormText;
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

function quoted(name: string, value: FormText): string {
  return value === undefined ? '' : `; ${name}="${value}"`;
}

function bare(name: string, value: FormText): string {
  return value === undefined ? '' : `; ${name}=${value}`;
}

function header(name: string, value: FormText): FormText {
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
