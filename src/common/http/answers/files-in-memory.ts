import { readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { RequestHandler } from 'express';
import { shareBytes } from './unread-answers.js';

/** A name without a folder, so that no path leads out of the folder. */
const NAME = /^\/[\w-]+(\.[\w-]+)+$/;
/** Requests for a part of a file, or for a file that the client may have already. */
const SPECIAL = ['range', 'if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since'];

interface KeptFile {
  readonly bytes: Buffer;
  readonly lastModified: string;
}

/**
 * Middleware. Answers `GET` of a file of this folder from memory, where it is kept from the first request on: hundreds of
 * slow readers then share one copy, and each answer is one write. What else is requested is left to the next middleware,
 * which serves the same folder from the disk.
 */
export function filesInMemory(folder: string): RequestHandler {
  const kept = new Map<string, KeptFile>();
  const fileNamed = async (path: string): Promise<KeptFile> => {
    const known = kept.get(path);
    if (known) return known;
    const file = join(folder, path);
    const { mtime } = await stat(file);
    const read = { bytes: await readFile(file), lastModified: mtime.toUTCString() };
    kept.set(path, read);
    return read;
  };
  return (request, response, next) => {
    const { method, path, headers } = request;
    if (method !== 'GET' || !NAME.test(path) || SPECIAL.some((name) => name in headers)) {
      next();
      return;
    }
    fileNamed(path).then(
      ({ bytes, lastModified }) => {
        response.setHeader('Accept-Ranges', 'bytes');
        response.setHeader('Cache-Control', 'public, max-age=0');
        response.setHeader('Last-Modified', lastModified);
        response.type(extname(path));
        response.setHeader('Content-Length', bytes.length);
        shareBytes(response);
        response.end(bytes);
      },
      () => {
        next();
      },
    );
  };
}
