/** Limits of a JSON text. */
export interface JsonBounds {
  /** Levels of arrays and objects. */
  readonly depth: number;
  /** Arrays, objects and commas, whose number bounds that of the values. */
  readonly values: number;
}

/** A JSON text exceeds its limits. The message follows the name of the text: "nests deeper than 32 levels". */
export class JsonBoundsError extends Error {
  override readonly name = 'JsonBoundsError';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Counts depth and values of JSON before it is parsed, on bytes that may arrive in slices. JSON.parse decides whether
 * the text is valid.
 */
export class JsonLimits {
  private depth = 0;
  private values = 0;
  private inString = false;
  private escaped = false;

  constructor(private readonly bounds: JsonBounds) {}

  /** Throws {@link JsonBoundsError} once the text exceeds its bounds. */
  add(bytes: Uint8Array): void {
    let { inString, escaped } = this;
    for (const byte of bytes) {
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else this.count(byte);
    }
    this.inString = inString;
    this.escaped = escaped;
  }

  private count(byte: number): void {
    if (byte === COMMA) this.values++;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      this.values++;
      this.depth++;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) this.depth--;
    const { depth, values } = this.bounds;
    if (this.depth > depth) throw new JsonBoundsError(`nests deeper than ${depth} levels`);
    if (this.values > values) throw new JsonBoundsError(`has more than ${values} values`);
  }
}
