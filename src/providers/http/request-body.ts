import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { MediaFile } from '../ports/media-file.js';

/** A request body with its headers. It is opened anew for every attempt. */
export interface RequestBody {
  readonly headers: Readonly<Record<string, string>>;
  open(): string | Readable;
}

/** A JSON body; undefined fields are left out. */
export function jsonBody(value: object): RequestBody {
  const text = JSON.stringify(value);
  return { headers: { 'content-type': 'application/json' }, open: () => text };
}

/** Form fields by name. Undefined ones are left out; numbers and booleans are sent as text. */
export type FormFields = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * A `multipart/form-data` body: the fields, then one file that is streamed from disk under `fileField`. Its length is
 * known before, so nothing is buffered and no chunked encoding is needed.
 */
export function multipartBody(fields: FormFields, fileField: string, file: MediaFile): RequestBody {
  const boundary = `form-${randomUUID()}`;
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${partHead(boundary, name)}\r\n\r\n${String(value)}\r\n`);
  const fileHead =
    `${partHead(boundary, fileField)}; filename="${quoted(file.filename)}"\r\n` +
    `Content-Type: ${file.contentType}\r\n\r\n`;
  const head = Buffer.from(parts.join('') + fileHead);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.length + file.sizeBytes + tail.length),
    },
    open: () => {
      const pieces = Readable.from(concatenated(head, file.path, tail), { objectMode: false });
      // The request learns of the error, unless it has ended before.
      return pieces.on('error', () => undefined);
    },
  };
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
