import type { Readable } from 'node:stream';
import { setImmediate as yieldLoop } from 'node:timers/promises';
import {
  JsonBoundsError,
  JsonLimits,
} from '../../platform/http-server/request-body/json-limits.js';
import { MAX_RESPONSE_DEPTH, parseResponseJson } from './response-body.js';
import { VectorBoundsError, type VectorScanner } from './vector-scanner.js';

/** Most bytes of a response: 2,048 vectors of 4,096 numbers, each a line of 30 bytes. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
/** Values beside the vectors. */
const MAX_REST_VALUES = 100_000;
/** After so much work, other requests have their turn. */
const TURN_MS = 5;

/**
 * The JSON of a response without its vectors, which are in the scanner. Undefined for a body that exceeds a limit or is no JSON.
 * It rejects as the body does.
 */
export async function readVectors(body: Readable, scanner: VectorScanner): Promise<unknown> {
  try {
    await scan(body, scanner);
    const rest = scanner.rest();
    new JsonLimits({ depth: MAX_RESPONSE_DEPTH, values: MAX_REST_VALUES }).add(rest);
    return parseResponseJson(rest);
  } catch (error) {
    const isUnusable =
      error instanceof VectorBoundsError ||
      error instanceof JsonBoundsError ||
      error instanceof SyntaxError;
    if (isUnusable) return undefined;
    throw error;
  }
}

async function scan(body: Readable, scanner: VectorScanner): Promise<void> {
  let bytes = 0;
  let turnMs = performance.now();
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new VectorBoundsError('the response is too long');
    scanner.add(chunk);
    if (performance.now() - turnMs < TURN_MS) continue;
    await yieldLoop();
    turnMs = performance.now();
  }
}
