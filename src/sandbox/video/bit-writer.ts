const FIRST_BYTES = 64 * 1024;
const ESCAPE = 3;

/** Writes the bits of an H.264 NAL unit: plain fields, Exp-Golomb codes and whole bytes (ITU-T H.264, 7.2 and 9.1). */
export class BitWriter {
  private bytes = Buffer.alloc(FIRST_BYTES);
  private length = 0;
  private pending = 0;
  private pendingBits = 0;

  /** The low `count` bits of a value, at most 16. */
  bits(value: number, count: number): void {
    for (let bit = count - 1; bit >= 0; bit -= 1) {
      this.pending = (this.pending << 1) | ((value >> bit) & 1);
      this.pendingBits += 1;
      if (this.pendingBits === 8) this.flush();
    }
  }

  /** An unsigned Exp-Golomb code, `ue(v)`. */
  unsigned(value: number): void {
    const code = value + 1;
    const width = 32 - Math.clz32(code);
    this.bits(0, width - 1);
    this.bits(code, width);
  }

  /** The signed Exp-Golomb code of zero, `se(v)`. This encoder needs no other signed value. */
  signedZero(): void {
    this.bits(1, 1);
  }

  /** Zeros up to the next whole byte. */
  align(): void {
    while (this.pendingBits > 0) this.bits(0, 1);
  }

  /** One whole byte; only after {@link align}. */
  byte(value: number): void {
    if (this.length === this.bytes.length) {
      this.bytes = Buffer.concat([this.bytes, Buffer.alloc(this.length)]);
    }
    this.bytes[this.length] = value;
    this.length += 1;
  }

  /** The NAL unit: a start code, then the bytes with a stop bit at the end and without any start code inside. */
  toNalUnit(header: number): Buffer {
    this.bits(1, 1);
    this.align();
    const escaped = escape(this.bytes.subarray(0, this.length));
    return Buffer.concat([Buffer.from([0, 0, 0, 1, header]), escaped]);
  }

  private flush(): void {
    const value = this.pending;
    this.pending = 0;
    this.pendingBits = 0;
    this.byte(value);
  }
}

/** Inserts a byte 3 after every two zeros that are followed by a byte of at most 3. */
function escape(bytes: Buffer): Buffer {
  const escaped = Buffer.alloc(bytes.length + Math.ceil(bytes.length / 2));
  let length = 0;
  let zeros = 0;
  for (const byte of bytes) {
    if (zeros >= 2 && byte <= ESCAPE) {
      escaped[length++] = ESCAPE;
      zeros = 0;
    }
    escaped[length++] = byte;
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return escaped.subarray(0, length);
}
