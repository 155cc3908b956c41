import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { JsonObject } from '../../common/json-object.js';
import type { MediaFile } from '../ports/audio.port.js';
import type { UpstreamTerms } from '../ports/attempt.js';

/** A request body. It is written anew for every attempt, its fields under the terms of the model. */
export interface RequestBody {
  written(terms: UpstreamTerms | undefined): WrittenBody;
}

/** The bytes to send, with their headers. */
export interface WrittenBody {
  readonly headers: Readonly<Record<string, string>>;
  readonly data: string | Readable;
}

/**
 * A JSON body; undefined fields are left out. The terms of the model are for its fields, or for those of the object that is its
 * field `settings`.
 */
export function jsonBody(value: object, settings?: string): RequestBody {
  return {
    written: (terms) => ({
      headers: { 'content-type': 'application/json' },
      data: JSON.stringify(
        settings === undefined
          ? fieldsUnder(terms, value)
          : { ...value, [settings]: fieldsUnder(terms, (value as JsonObject)[settings] as object) },
      ),
    }),
  };
}

/** A body that is a file as it is, streamed from disk. What the terms of a model say of fields is for the query beside it. */
export function fileBody(file: MediaFile): RequestBody {
  return {
    written: () => ({
      headers: { 'content-type': file.contentType, 'content-length': String(file.sizeBytes) },
      // The request gets the error, unless it has ended before.
      data: Readable.from(bytesOf(file), { objectMode: false }).on('error', () => undefined),
    }),
  };
}

/** The text of a query, with its `?`, under the terms of the model. Undefined fields are left out; a list is one field for each entry. */
export function queryText(terms: UpstreamTerms | undefined, fields: FormFields): string {
  const sent = new URLSearchParams();
  for (const [name, value] of Object.entries(fieldsUnder(terms, fields)))
    for (const one of [value].flat()) if (one !== undefined) sent.append(name, formText(one));
  return `?${sent.toString()}`;
}

/** Form fields by name. Undefined ones are left out; numbers and booleans are sent as text. */
export type FormFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** A file of a form, under the name of its field. */
export interface FileOfForm {
  readonly field: string;
  readonly file: MediaFile;
}

/**
 * A `multipart/form-data` body: the fields, then the files, which are streamed from disk. Their length is known before, so
 * nothing is buffered and no chunked encoding is needed.
 */
export function multipartBody(fields: FormFields, files: readonly FileOfForm[]): RequestBody {
  return {
    written: (terms) =>
      writtenForm(
        fieldsUnder(terms, fields),
        files.map(({ field, file }) => ({ field: terms?.rename?.[field] ?? field, file })),
      ),
  };
}

function writtenForm(fields: object, files: readonly FileOfForm[]): WrittenBody {
  const boundary = `form-${randomUUID()}`;
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${partHead(boundary, name)}\r\n\r\n${formText(value)}\r\n`);
  const streamed = files.map(({ field, file }, index) => {
    const before = index === 0 ? parts.join('') : '\r\n';
    const head =
      `${before}${partHead(boundary, field)}; filename="${quoted(file.filename)}"\r\n` +
      `Content-Type: ${file.contentType}\r\n\r\n`;
    return { head: Buffer.from(head), file };
  });
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const bytes = streamed.reduce((sum, { head, file }) => sum + head.length + file.sizeBytes, 0);
  const pieces = Readable.from(concatenated(streamed, tail), { objectMode: false });
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(bytes + tail.length),
    },
    // The request gets the error, unless it has ended before.
    data: pieces.on('error', () => undefined),
  };
}

/** The fields without those that the terms drop, under their new names, and with the constants. */
function fieldsUnder(terms: UpstreamTerms | undefined, fields: object): object {
  if (!terms) return fields;
  const { drop = [], rename = {}, constants } = terms;
  const sent = Object.entries(fields)
    .filter(([name]) => !drop.includes(name))
    .map(([name, value]): [string, unknown] => [
      Object.hasOwn(rename, name) ? (rename[name] ?? name) : name,
      value,
    ]);
  return { ...(Object.fromEntries(sent) as object), ...constants };
}

function formText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface StreamedPart {
  readonly head: Buffer;
  readonly file: MediaFile;
}

async function* concatenated(parts: readonly StreamedPart[], tail: Buffer): AsyncGenerator<Buffer> {
  for (const { head, file } of parts) {
    yield head;
    yield* bytesOf(file);
  }
  yield tail;
}

/** The file is opened when its first bytes are wanted. */
async function* bytesOf({ path }: MediaFile): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(path)) yield chunk as Buffer;
}

function partHead(boundary: string, name: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
}

/** Escaped as browsers escape it, so that a name cannot end its header. */
function quoted(name: string): string {
  return name.replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
}
