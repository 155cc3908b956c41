import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

import { GatewayError } from '../../common/errors/gateway-error.js';
import { answerRequests } from '../../platform/fairness/worker-thread.js';
import { measureBytes, type MediaDuration } from './media-duration.js';
import { unsupportedMedia } from './unsupported-media.error.js';

/** More than the 50 MB that endpoints accept. It bounds the memory of a thread even if the limit of a caller fails. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** The response to a path: the duration, or the public reason why the file is rejected. */
export type DurationResponse = { readonly duration: MediaDuration } | { readonly reason: string };

function respond(path: string): DurationResponse {
  try {
    return { duration: measureBytes(contentOf(path)) };
  } catch (error) {
    if (error instanceof GatewayError) return { reason: error.message };
    throw error;
  }
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
