import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
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

/** A JSON body; undefined fields are left out. */
export function jsonBody(value: object): RequestBody {
  return {
    written: (terms) => ({
      headers: { 'content-type': 'application/json' },
      data: JSON.stringify(fieldsUnder(terms, value)),
    }),
  };
}

/** Form fields by name. Undefined ones are left out; numbers and booleans are sent as text. */
export type FormFields = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * A `multipart/form-data` body: the fields, then one file that is streamed from disk under `fileField`. Its length is
 * known before, so nothing is buffered and no chunked encoding is needed.
 */
export function multipartBody(fields: FormFields, fileField: string, file: MediaFile): RequestBody {
  return {
    written: (terms) =>
      writtenForm(fieldsUnder(terms, fields), terms?.rename?.[fileField] ?? fileField, file),
  };
}

function writtenForm(fields: object, fileField: string, file: MediaFile): WrittenBody {
  const boundary = `form-${randomUUID()}`;
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${partHead(boundary, name)}\r\n\r\n${formText(value)}\r\n`);
  const fileHead =
    `${partHead(boundary, fileField)}; filename="${quoted(file.filename)}"\r\n` +
    `Content-Type: ${file.contentType}\r\n\r\n`;
  const head = Buffer.from(parts.join('') + fileHead);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const pieces = Readable.from(concatenated(head, file.path, tail), { objectMode: false });
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.length + file.sizeBytes + tail.length),
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

async function* concatenated(head: Buffer, path: string, tail: Buffer): AsyncGenerator<Buffer> {
  yield head;
  for await (const chunk of createReadStream(path)) yield chunk as Buffer;
  yield tail;
}

function partHead(boundary: string, name: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
}

/** Escaped as browsers escape it, so that a name cannot end its header. */
function quoted(name: string): string {
  return name.replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
}
