import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { MEDIA_PREFIX, type ShelvedFile, type MediaShelf } from '../media/media-shelf.js';
import { readRange } from '../../common/byte-range.js';
import type { SandboxExchange } from './sandbox-exchange.js';
import { spoil } from './faults.js';
import { type SandboxProtocol, type SandboxRoute, WireFault } from './protocol.js';

const PIECE_BYTES = 64 * 1024;

/**
 * `GET` and `HEAD /media/{name}`: a file of the shelf, or one range of it. It needs no key, as on the file host of a
 * provider.
 */
export function mediaProtocol(shelf: MediaShelf): SandboxProtocol {
  const route = (method: SandboxRoute['method'], send: typeof sendFile): SandboxRoute => ({
    method,
    path: '/{name}',
    operation: 'media',
    handle: async (exchange) => {
      const name = exchange.params.name ?? '';
      if (await spoil(exchange, shelf.faultOf(name), true)) return;
      const file = await shelf.get(name);
      if (file === undefined) throw new WireFault({ status: 404, message: 'Not Found' });
      await send(exchange, file, name);
    },
  });
  return {
    prefix: MEDIA_PREFIX,
    routes: [route('GET', sendFile), route('HEAD', sendHead)],
    keyOf: 'open',
    requestIdHeader: 'x-request-id',
    errorBody: ({ message }) => ({ message }),
  };
}

/** A name always stands for the same bytes, so the name is the ETag. */
const headOf = (file: ShelvedFile, name: string) => ({
  'content-type': file.contentType,
  'accept-ranges': 'bytes',
  etag: `"${name}"`,
});

function sendHead(exchange: SandboxExchange, file: ShelvedFile, name: string): Promise<void> {
  return exchange.send(200, headOf(file, name), file.bytes);
}

function sendFile(exchange: SandboxExchange, file: ShelvedFile, name: string): Promise<void> {
  const head = headOf(file, name);
  const { length } = file.bytes;
  const isSameFile = (exchange.header('if-range') ?? head.etag) === head.etag;
  const range = isSameFile ? readRange(exchange.header('range'), length) : 'whole';
  if (range === 'outside') {
    return exchange.send(416, { 'content-range': `bytes */${length}` }, Buffer.alloc(0));
  }
  if (range === 'whole') return sendPieces(exchange, 200, head, file.bytes);
  const { first, last } = range;
  const headers = { ...head, 'content-range': `bytes ${first}-${last}/${length}` };
  return sendPieces(exchange, 206, headers, file.bytes.subarray(first, last + 1));
}

/** Sends the file in pieces, so that a test can see whether it was read to the end. */
function sendPieces(
  exchange: SandboxExchange,
  status: number,
  headers: OutgoingHttpHeaders,
  bytes: Buffer,
): Promise<void> {
  const pieces = Readable.from(piecesOf(bytes)).on('error', () => undefined);
  return exchange.send(status, { ...headers, 'content-length': bytes.length }, pieces);
}

function* piecesOf(bytes: Buffer): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
