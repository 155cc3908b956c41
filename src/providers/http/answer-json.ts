import type { Readable } from 'node:stream';
import { JsonBoundsError, JsonStructure } from '../../common/http/json-structure.js';
import { BodyTooLargeError, readBounded } from './bounded-body.js';

/** Answers nest less. Writing a deeper one as JSON could use up the stack. */
const MAX_DEPTH = 64;
/** Twice the alignment of 100,000 characters, which is the answer with the most values apart from those of chat. */
const MAX_VALUES = 1_000_000;

/**
 * The body as JSON; undefined when it is too long, too deep, not JSON, or has more than `maxValues` values. They are
 * counted while the bytes arrive: 64 MB of empty objects would stop the process for a minute and take up its memory.
 */
export async function readJson(
  body: Readable,
  limitBytes: number,
  maxValues = MAX_VALUES,
): Promise<unknown> {
  const structure = new JsonStructure({ depth: MAX_DEPTH, values: maxValues });
  try {
    const bytes = await readBounded(counted(body, structure), limitBytes);
    return JSON.parse(bytes.toString()) as unknown;
  } catch (error) {
    const isUnusable =
      error instanceof SyntaxError ||
      error instanceof BodyTooLargeError ||
      error instanceof JsonBoundsError;
    if (isUnusable) return undefined;
    throw error;
  }
}

async function* counted(body: Readable, structure: JsonStructure): AsyncGenerator<Buffer> {
  for await (const chunk of body as AsyncIterable<Buffer>) {
    structure.add(chunk);
    yield chunk;
  }
}
