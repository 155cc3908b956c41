/** Writes bits, most significant first, and the Exp-Golomb numbers of H.264. */
export class BitWriter {
  private readonly bytes: number[] = [];
  private current = 0;
  private free = 8;

  bits(value: number, count: number): void {
    for (let index = count - 1; index >= 0; index--) {
      this.current = (this.current << 1) | ((value >>> index) & 1);
      this.free -= 1;
      if (this.free === 0) this.flush();
    }
  }

  /** An unsigned Exp-Golomb number. */
  golomb(value: number): void {
    const length = 32 - Math.clz32(value + 1);
    this.bits(0, length - 1);
    this.bits(value + 1, length);
  }

  /** Zero bits up to the next whole byte, then bytes as they are. */
  alignedBytes(bytes: Iterable<number>): void {
    while (this.free < 8) this.bits(0, 1);
    for (const byte of bytes) this.bytes.push(byte);
  }

  /** Everything written, closed by the stop bit of H.264. */
  finish(): Uint8Array {
    this.bits(1, 1);
    while (this.free < 8) this.bits(0, 1);
    return Uint8Array.from(this.bytes);
  }

  private flush(): void {
    this.bytes.push(this.current);
    this.current = 0;
    this.free = 8;
  }
}
