import { GatewayError } from '../../errors/gateway-error.js';

/** Depth of nested arrays and objects. */
const MAX_DEPTH = 32;
/** Arrays, objects and commas, whose number bounds that of the values. */
const MAX_VALUES = 10_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Counts depth and values of JSON before it is parsed, on bytes that may arrive in slices. JSON.parse decides whether
 * the text is valid. Throws `invalid_request` above 32 levels or 10,000 values.
 */
export class JsonStructure {
  private depth = 0;
  private values = 0;
  private inString = false;
  private escaped = false;

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
    if (this.depth > MAX_DEPTH) refuse(`nests deeper than ${MAX_DEPTH} levels`);
    if (this.values > MAX_VALUES) refuse(`has more than ${MAX_VALUES} values`);
  }
}

function refuse(says: string): never {
  throw new GatewayError('invalid_request', `The body ${says}.`);
}
