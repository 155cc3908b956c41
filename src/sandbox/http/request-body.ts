import busboy from 'busboy';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { WireFault } from './protocol.js';

/** Largest body the sandbox reads. */
const MAX_BODY_BYTES = 60 * 1024 * 1024;

/** The whole request body; throws `WireFault` 413 beyond 60 MB. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // The rest of a body that is too large is read and dropped, so that the client can read the error.
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (bytes > MAX_BODY_BYTES) {
    throw new WireFault({ status: 413, message: 'The request body is too large' });
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

/** A multipart form: text fields by name, and files by the name of their field. */
export interface MultipartForm {
  readonly fields: ReadonlyMap<string, string>;
  readonly files: ReadonlyMap<string, Buffer>;
  /** Every file in order, also those that share the name of their field. */
  readonly parts: readonly (readonly [field: string, bytes: Buffer])[];
}

/** Parses a multipart body; undefined when it is not multipart or is invalid. */
export async function readForm(
  body: Buffer,
  contentType: string | undefined,
): Promise<MultipartForm | undefined> {
  if (contentType?.startsWith('multipart/form-data') !== true) return undefined;
  const fields = new Map<string, string>();
  const files = new Map<string, Buffer>();
  const parts: [string, Buffer][] = [];
  // The size of the parts is bounded by the body, which is in memory already.
  const parser = busboy({
    headers: { 'content-type': contentType },
    limits: { fieldSize: MAX_BODY_BYTES },
  });
  parser.on('error', () => undefined);
  parser.on('field', (name, value) => fields.set(name, value));
  parser.on('file', (name, file) => {
    const chunks: Buffer[] = [];
    file.on('data', (chunk: Buffer) => chunks.push(chunk));
    // The pipeline learns of it.
    file.on('error', () => undefined);
    file.once('end', () => {
      const bytes = Buffer.concat(chunks);
      files.set(name, bytes);
      parts.push([name, bytes]);
    });
  });
  try {
    await pipeline(Readable.from([body]), parser);
  } catch {
    return undefined;
  }
  return { fields, files, parts };
}
