import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

import { GatewayError } from '../../common/errors/gateway-error.js';
import { measureBytes, type MediaLength } from './media-length.js';
import { unreadable } from './unreadable.js';

/** Above the 50 MB any endpoint takes: what a worker holds in memory is bounded even if a caller's limit fails. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** What a worker answers to a path: the length, or the public reason of the refusal. */
export type LengthAnswer = { readonly length: MediaLength } | { readonly refusal: string };

// Anything but a refusal (a missing file, a fault of ours) is left to crash the worker: its pool reports it and starts another.
parentPort?.on('message', (path: string) => {
  parentPort?.postMessage(answer(path));
});

function answer(path: string): LengthAnswer {
  try {
    return { length: measureBytes(contentOf(path)) };
  } catch (error) {
    if (error instanceof GatewayError) return { refusal: error.message };
    throw error;
  }
}

/** One place for every file in turn: new ones would wait for a collection that hardly comes, since nothing else allocates here. */
let space = Buffer.alloc(0);

function contentOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size > FILE_BYTES_MAX) throw unreadable('it is too large');
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
