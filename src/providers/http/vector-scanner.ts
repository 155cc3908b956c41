import { randomUUID } from 'node:crypto';
import { ByteAccumulator } from '../../platform/http-server/request-body/byte-accumulator.js';
import { MAX_DIMENSIONS, type Vector } from '../ports/embedding.port.js';
import { vectorOfBase64, vectorOfNumbers } from './vector-text.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const WHITE_SPACE: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];

/** A longer text may be a vector in base64. */
const SHORT_TEXT_BYTES = 1_024;
/** Most bytes of one number with the white space around it. */
const NUMBER_BYTES = 64;
/** Bytes of the longest vector in either form. */
const MAX_LEAF_BYTES = MAX_DIMENSIONS * NUMBER_BYTES;
/** Bytes of what is no vector: 2,048 objects around them, errors and white space. */
const MAX_REST_BYTES = 2 * 1024 * 1024;
/** Bytes of all vectors of a response: 2,048 of 4,096 numbers with 64 bits. */
const MAX_VECTOR_BYTES = 64 * 1024 * 1024;
/** Lists of numbers that are no vectors. */
const SPARE_LISTS = 64;

/** Thrown for a response that exceeds a limit. */
export class VectorBoundsError extends Error {
  override readonly name = 'VectorBoundsError';
}

/**
 * Takes the vectors out of the JSON of a response while its bytes arrive: lists of numbers, and long texts of base64. Each
 * becomes a text in the rest, which is parsed as usual, so that neither the text of all vectors is in memory nor its parsing
 * one long step.
 */
export class VectorScanner {
  /** Begins the texts that stand for vectors; a provider cannot guess it. */
  private readonly mark = randomUUID();
  private readonly vectors: Vector[] = [];
  private vectorBytes = 0;
  private readonly kept = new ByteAccumulator(MAX_REST_BYTES);
  private restBytes = 0;
  /** What was read of the text or list that has begun. */
  private leaf = new ByteAccumulator(MAX_LEAF_BYTES);
  private leafBytes = 0;
  private mode: 'rest' | 'text' | 'numbers' = 'rest';
  /** A list has begun, and only white space followed. */
  private isListOpen = false;
  /** The next byte of a text is escaped. */
  private isEscaped = false;

  /** @param expected how many vectors there should be */
  constructor(private readonly expected: number) {}

  /** Reads the next bytes. Throws {@link VectorBoundsError}. */
  add(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.mode === 'rest') at = this.readRest(chunk, at);
      else at = this.mode === 'text' ? this.readText(chunk, at) : this.readNumbers(chunk, at);
    }
  }

  /** The JSON without its vectors, once all bytes are read. */
  rest(): Buffer {
    return this.kept.whole();
  }

  /** The vector that a value of the parsed rest stands for, or has in base64; undefined if it is none. */
  vectorOf(value: unknown): Vector | undefined {
    const [only = value] = Array.isArray(value) && value.length === 1 ? (value as unknown[]) : [];
    if (typeof only !== 'string') return undefined;
    if (only.startsWith(this.mark)) return this.vectors[Number(only.slice(this.mark.length))];
    return Array.isArray(value) ? undefined : vectorOfBase64(only);
  }

  private readRest(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === QUOTE) {
        this.keep(chunk.subarray(from, at));
        this.begin('text');
        return at + 1;
      }
      if (this.isListOpen && beginsNumber(byte)) {
        this.keep(chunk.subarray(from, at));
        this.begin('numbers');
        return at;
      }
      if (byte === OPEN_ARRAY) this.isListOpen = true;
      else if (this.isListOpen && !WHITE_SPACE.includes(byte)) this.isListOpen = false;
    }
    this.keep(chunk.subarray(from));
    return chunk.length;
  }

  private readText(chunk: Buffer, from: number): number {
    if (this.isEscaped) {
      this.isEscaped = false;
      this.take(chunk.subarray(from, from + 1));
      return from + 1;
    }
    const quote = chunk.indexOf(QUOTE, from);
    const end = quote === -1 ? chunk.length : quote;
    const escape = chunk.subarray(from, end).indexOf(BACKSLASH);
    if (escape !== -1) {
      this.isEscaped = true;
      this.take(chunk.subarray(from, from + escape + 1));
      return from + escape + 1;
    }
    this.take(chunk.subarray(from, end));
    if (quote === -1) return chunk.length;
    this.endText();
    return quote + 1;
  }

  private readNumbers(chunk: Buffer, from: number): number {
    const close = chunk.indexOf(CLOSE_ARRAY, from);
    this.take(chunk.subarray(from, close === -1 ? chunk.length : close));
    if (close === -1) return chunk.length;
    this.endNumbers();
    return close;
  }

  private endText(): void {
    const bytes = this.end();
    const isLong = bytes.length > SHORT_TEXT_BYTES;
    // Some servers escape the slash.
    const vector = isLong && vectorOfBase64(bytes.toString('latin1').replaceAll('\\/', '/'));
    this.keep(QUOTE_BYTES);
    this.keep(vector ? this.found(vector) : bytes);
    this.keep(QUOTE_BYTES);
  }

  private endNumbers(): void {
    const bytes = this.end();
    const vector = vectorOfNumbers(bytes.toString('latin1'));
    if (!vector) {
      this.keep(bytes);
      return;
    }
    this.keep(QUOTE_BYTES);
    this.keep(this.found(vector));
    this.keep(QUOTE_BYTES);
  }

  /** Keeps the vector, and returns the text that stands for it. */
  private found(vector: Vector): Buffer {
    this.vectorBytes += vector.byteLength;
    const isTooMany = this.vectors.length >= this.expected + SPARE_LISTS;
    if (isTooMany || this.vectorBytes > MAX_VECTOR_BYTES) {
      throw new VectorBoundsError('too many numbers');
    }
    this.vectors.push(vector);
    return Buffer.from(`${this.mark}${this.vectors.length - 1}`);
  }

  private begin(mode: 'text' | 'numbers'): void {
    this.mode = mode;
    this.isListOpen = false;
  }

  private end(): Buffer {
    const bytes = this.leaf.whole();
    this.leaf = new ByteAccumulator(MAX_LEAF_BYTES);
    this.leafBytes = 0;
    this.mode = 'rest';
    return bytes;
  }

  private take(bytes: Buffer): void {
    this.leafBytes += bytes.length;
    if (this.leafBytes > MAX_LEAF_BYTES) throw new VectorBoundsError('a value is too long');
    this.leaf.add(bytes);
  }

  private keep(bytes: Buffer): void {
    this.restBytes += bytes.length;
    if (this.restBytes > MAX_REST_BYTES) throw new VectorBoundsError('more than vectors');
    this.kept.add(bytes);
  }
}

const QUOTE_BYTES = Buffer.from('"');

function beginsNumber(byte: number): boolean {
  return byte === MINUS || (byte >= ZERO && byte <= NINE);
}
