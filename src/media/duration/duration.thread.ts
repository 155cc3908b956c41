import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

import { GatewayError } from '../../common/errors/gateway-error.js';
import { answerRequests } from '../../platform/fairness/worker-thread.js';
import { measureBytes, type MediaDuration } from './media-duration.js';
import { unsupportedMedia } from './unsupported-media.error.js';

/** More than the 50 MB that endpoints accept. It bounds the memory of a thread even if the limit of a caller fails. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** A file by its path, or its content. */
export type MeasuredFile = string | Uint8Array;

/** The response to a file: the duration, or the public reason why the file is rejected. */
export type DurationResponse = { readonly duration: MediaDuration } | { readonly reason: string };

function respond(file: MeasuredFile): DurationResponse {
  try {
    const content = typeof file === 'string' ? contentOf(file) : bytesOf(file);
    return { duration: measureBytes(content) };
  } catch (error) {
    if (error instanceof GatewayError) return { reason: error.message };
    throw error;
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  if (byteLength > FILE_BYTES_MAX) throw unsupportedMedia('it is too large');
  return Buffer.from(buffer, byteOffset, byteLength);
}

/**
 * One buffer for all files, one after the other. New buffers would stay in memory, because garbage collections are rare
 * in this thread.
 */
let space = Buffer.alloc(0);

function contentOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size > FILE_BYTES_MAX) throw unsupportedMedia('it is too large');
    if (size > space.length) space = Buffer.allocUnsafeSlow(size);
    let bytes = 0;
    while (bytes < size) {
      const read = readSync(file, space, bytes, size - bytes, null);
      if (read === 0) break;
      bytes += read;
    }
    return space.subarray(0, bytes);
  } finally {
    closeSync(file);
  }
}

// Any other error (a missing file, a fault in our code) ends the thread. Its pool reports it and starts another.
answerRequests(respond);
