import { Logger } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { namesEntity } from '../http-server/responses/entity-tag.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { type ByteRange, readRange } from '../../common/byte-range.js';
import { STALL_MS } from '../http-server/responses/backpressure.js';
import { ResponseSink } from './response-sink.js';
import type { StoredFile } from './stored-file.js';

const logger = new Logger('StoredFile');

/** How to send a file. */
export interface SendOptions {
  /** The name under which a browser saves it. */
  readonly filename: string;
  /** Set by tests; otherwise {@link STALL_MS}. */
  readonly stallMs?: number;
}

/**
 * Responds to `GET` and `HEAD` with a stored file or one range of it, as fast as the client reads it (decision G-63,
 * RFC 9110). For several ranges the whole file is sent. Throws GatewayError 416 `range_not_satisfiable`, 429
 * `rate_limit_exceeded` beyond the account's share of downloads, or 503 `service_unavailable` if the store fails. If
 * the file ends too early after the head, the connection is aborted.
 */
export async function sendStoredFile(
  request: Request,
  response: Response,
  file: StoredFile,
  { filename, stallMs = STALL_MS }: SendOptions,
): Promise<void> {
  if (namesEntity(request.get('if-none-match'), file.etag)) {
    writeValidators(response, file);
    response.status(304).end();
    return;
  }
  const isHead = request.method === 'HEAD';
  const range = isHead ? 'whole' : rangeOf(request, file);
  if (range === 'outside') {
    response.setHeader('Content-Range', `bytes */${file.sizeBytes}`);
    const message = 'The range lies outside the file.';
    throw new GatewayError('range_not_satisfiable', message, { param: 'Range' });
  }
  // Opened before the head is written, so that a failure of the store can be sent as an error response.
  const bytes = isHead ? undefined : await file.download(range === 'whole' ? undefined : range);
  const lengthBytes = writeHead(response, file, filename, range);
  if (bytes === undefined) response.end();
  else await relayBytes(response, bytes, lengthBytes, stallMs);
}

function rangeOf(request: Request, file: StoredFile): ByteRange | 'whole' | 'outside' {
  const isSameFile = (request.get('if-range') ?? file.etag) === file.etag;
  return isSameFile ? readRange(request.get('range'), file.sizeBytes) : 'whole';
}

/** Returns the number of bytes in the response. */
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
  writeValidators(response, file);
  return lengthBytes;
}

/** Headers for caches, with 304 as with 200 (RFC 9110, 15.4.5). */
function writeValidators(response: Response, { etag }: StoredFile): void {
  response.setHeader('ETag', etag);
  response.setHeader('Cache-Control', 'private, no-cache');
}

function plainName(filename: string): string {
  return filename.replace(/[^\w.-]/g, '_');
}

/**
 * Sends the bytes of a file after the head. Always ends. A client that disconnects or stalls ends the reading. If the file breaks off
 * or is too short, the connection is aborted.
 */
export async function relayBytes(
  response: Response,
  bytes: Readable,
  lengthBytes: number,
  stallMs = STALL_MS,
): Promise<void> {
  const sink = new ResponseSink(response, lengthBytes, stallMs);
  // A source that has read everything ahead may already have ended, so both streams are ended here.
  const stop = (): void => {
    bytes.destroy();
    sink.destroy();
  };
  if (response.destroyed) stop();
  else response.once('close', stop);
  try {
    await pipeline(bytes, sink);
    if (sink.sentBytes === lengthBytes) response.end();
    else throw new Error(`it has ${sink.sentBytes} bytes instead of ${lengthBytes}`);
  } catch (error) {
    if (!response.destroyed) logger.error(`A stored file broke off: ${String(error)}`);
    response.destroy();
  }
}
