import { endianness } from 'node:os';
import type { Vector } from '../ports/embedding.port.js';

const BYTES_PER_NUMBER = Float32Array.BYTES_PER_ELEMENT;
/** Looked up once, because they are called for every number. */
const { fround } = Math;
const { isFinite } = Number;
const IS_BIG_ENDIAN = endianness() === 'BE';

/**
 * The numbers whose 32 bits, lowest byte first, a text has in base64; undefined if it is no such text or one of them is not
 * finite.
 */
export function vectorOfBase64(text: string): Float32Array | undefined {
  const length = Buffer.byteLength(text, 'base64');
  if (length === 0 || length % BYTES_PER_NUMBER !== 0) return undefined;
  const vector = new Float32Array(length / BYTES_PER_NUMBER);
  const bytes = Buffer.from(vector.buffer);
  // The decoder skips foreign characters, and fewer bytes are left.
  if (bytes.write(text, 'base64') !== length) return undefined;
  if (IS_BIG_ENDIAN) bytes.swap32();
  return vector.every(isFiniteNumber) ? vector : undefined;
}

/** The numbers of a JSON list without its brackets; undefined unless all of it are finite numbers. */
export function vectorOfNumbers(text: string): Float64Array | undefined {
  let values: unknown[];
  try {
    values = JSON.parse(`[${text}]`) as unknown[];
  } catch {
    return undefined;
  }
  return values.every(isFiniteNumber) ? new Float64Array(values) : undefined;
}

/** Also as a number of 32 bits, which callers may ask for. */
function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && isFinite(fround(value));
}

/** Whether all vectors have the same number of numbers, within the range. */
export function areEquallyLong(
  vectors: readonly Vector[],
  { min, max }: { readonly min: number; readonly max: number },
): boolean {
  const [{ length } = { length: 0 }] = vectors;
  return length >= min && length <= max && vectors.every((vector) => vector.length === length);
}
