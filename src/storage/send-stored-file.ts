import { Logger } from '@nestjs/common';
import type { Readable } from 'node:stream';
import type { Request, Response } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import { type ByteRange, readRange } from '../common/http/byte-range.js';
import { writableAgain } from '../common/http/reader-pace.js';
import type { StoredFile } from './stored-file.js';

/** A reader that takes nothing for this long is cut off. */
const WRITE_STALL_MS = 30_000;
const logger = new Logger('StoredFile');

/** How a file is sent. */
export interface SendOptions {
  /** Name under which a browser saves it. */
  readonly filename: string;
  /** For tests; {@link WRITE_STALL_MS} otherwise. */
  readonly stallMs?: number;
}

/**
 * Answers `GET` and `HEAD` with a stored file or one range of it, at the pace of the reader (decision G-63, RFC 9110). Several
 * ranges get the whole file. Throws GatewayError 416 `range_not_satisfiable`, or 503 `service_unavailable` where the store does
 * not deliver; a file that breaks off after the head cuts the answer.
 */
export async function sendStoredFile(
  request: Request,
  response: Response,
  file: StoredFile,
  { filename, stallMs = WRITE_STALL_MS }: SendOptions,
): Promise<void> {
  if (isNamed(request.get('if-none-match'), file.etag)) {
    response.status(304).setHeader('ETag', file.etag).end();
    return;
  }
  const isHead = request.method === 'HEAD';
  const range = isHead ? 'whole' : rangeOf(request, file);
  if (range === 'outside') {
    response.setHeader('Content-Range', `bytes */${file.sizeBytes}`);
    throw new GatewayError('range_not_satisfiable', 'The range lies outside the file.');
  }
  // Opened before the head is written, so that a store that fails is an answer of its own.
  const bytes = isHead ? undefined : await file.open(range === 'whole' ? undefined : range);
  const lengthBytes = writeHead(response, file, filename, range);
  if (bytes === undefined) response.end();
  else await relay(bytes, response, lengthBytes, stallMs);
}

function rangeOf(request: Request, file: StoredFile): ByteRange | 'whole' | 'outside' {
  const isSameFile = (request.get('if-range') ?? file.etag) === file.etag;
  return isSameFile ? readRange(request.get('range'), file.sizeBytes) : 'whole';
}

/** Whether `If-None-Match` names the file; the comparison is weak, as RFC 9110 has it. */
function isNamed(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}

/** Returns how many bytes the answer will have. */
function writeHead(
  response: Response,
  file: StoredFile,
  filename: string,
  range: ByteRange | 'whole',
): number {
  const { first, last } = range === 'whole' ? { first: 0, last: file.sizeBytes - 1 } : range;
  const lengthBytes = last - first + 1;
  response.status(range === 'whole' ? 200 : 206);
  if (range !== 'whole') {
    response.setHeader('Content-Range', `bytes ${first}-${last}/${file.sizeBytes}`);
  }
  response.setHeader('Content-Type', file.contentType);
  response.setHeader('Content-Length', lengthBytes);
  response.setHeader('Content-Disposition', `attachment; filename="${plainName(filename)}"`);
  response.setHeader('Accept-Ranges', 'bytes');
  response.setHeader('ETag', file.etag);
  response.setHeader('Cache-Control', 'private, no-cache');
  return lengthBytes;
}

function plainName(filename: string): string {
  return filename.replace(/[^\w.-]/g, '_');
}

/** Ends in any case: a reader that leaves or stalls ends the reading, a file that breaks off or is too short cuts the answer. */
async function relay(
  bytes: Readable,
  response: Response,
  lengthBytes: number,
  stallMs: number,
): Promise<void> {
  const stop = (): void => void bytes.destroy();
  if (response.destroyed) stop();
  else response.once('close', stop);
  let sentBytes = 0;
  try {
    for await (const chunk of bytes) {
      sentBytes += (chunk as Buffer).length;
      if (!response.write(chunk)) await writableAgain(response, stallMs);
    }
    if (sentBytes === lengthBytes) response.end();
    else throw new Error(`it has ${sentBytes} bytes instead of ${lengthBytes}`);
  } catch (error) {
    if (!response.destroyed) logger.error(`A stored file broke off: ${String(error)}`);
    response.destroy();
  }
}
