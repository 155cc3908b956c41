import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { BoundedDownload } from '../../platform/http-client/bounded-download.js';
import { jsonBody, type RequestBody } from './request-body.js';

/** An image that is sent inside of a request. */
export interface InlineImage {
  readonly data: Buffer;
  /** Such as `image/png`. */
  readonly contentType: string;
  /** Stands in the JSON for its bytes in base64. Nobody can guess it. */
  readonly token: string;
}

/**
 * The images that callers named, by their URLs, fetched one after the other through the guarded dialer. A URL is there once for each
 * place of its image. Undefined where one cannot be fetched, is no image by its type, or makes all of them, in all places, larger than
 * `limitBytes`. An aborted signal rejects with its reason.
 */
export async function fetchedImages(
  download: BoundedDownload | undefined,
  urls: readonly string[],
  { limitBytes, signal }: { readonly limitBytes: number; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, InlineImage> | undefined> {
  const images = new Map<string, InlineImage>();
  let leftBytes = limitBytes;
  for (const url of new Set(urls)) {
    const places = urls.filter((one) => one === url).length;
    const options = { limitBytes: Math.floor(leftBytes / places), signal };
    const found = await download?.toBytes(url, options).catch(() => undefined);
    signal.throwIfAborted();
    const [, contentType] = /^(image\/[\w.+-]{1,50})/.exec(found?.contentType ?? '') ?? [];
    if (!found || contentType === undefined) return undefined;
    leftBytes -= found.data.length * places;
    images.set(url, { data: found.data, contentType, token: `image ${randomUUID()}` });
  }
  return images;
}

/** Bytes that are coded at once: whole groups of three, so that the pieces of base64 join. */
const PIECE_BYTES = 48 * 1024;

/**
 * {@link jsonBody} in which each token stands for its image. The images are coded while they are sent: as one text, megabytes would
 * stop the process.
 */
export function jsonWithImages(
  value: object,
  images: readonly InlineImage[],
  settings?: string,
): RequestBody {
  const body = jsonBody(value, settings);
  if (images.length === 0) return body;
  const byToken = new Map(images.map(({ token, data }) => [token, data]));
  const anyToken = new RegExp(`(${[...byToken.keys()].join('|')})`);
  return {
    written: (terms) => {
      const { headers, data: text } = body.written(terms);
      assert(typeof text === 'string', 'a JSON body must be a text');
      const parts = text.split(anyToken).map((part) => byToken.get(part) ?? part);
      const bytes = parts.reduce((sum, part) => sum + sentBytes(part), 0);
      const data = Readable.from(piecesOf(parts), { objectMode: false });
      return {
        headers: { ...headers, 'content-length': String(bytes) },
        // The request gets the error, unless it has ended before.
        data: data.on('error', () => undefined),
      };
    },
  };
}

const sentBytes = (part: string | Buffer): number =>
  typeof part === 'string' ? Buffer.byteLength(part) : 4 * Math.ceil(part.length / 3);

function* piecesOf(parts: readonly (string | Buffer)[]): Generator<Buffer> {
  for (const part of parts) {
    if (typeof part === 'string') {
      if (part !== '') yield Buffer.from(part);
      continue;
    }
    for (let at = 0; at < part.length; at += PIECE_BYTES)
      yield Buffer.from(part.toString('base64', at, at + PIECE_BYTES));
  }
}
