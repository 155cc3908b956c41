/** This many chunks may have any size. */
const FREE_CHUNKS = 10_000;
/** In a body of more chunks, the average chunk must have at least this size. */
const MIN_AVERAGE_BYTES = 32;

/**
 * Limits the number of small chunks of a body. A client may send every byte as a separate chunk; each byte then takes
 * six on the wire and a hundred times as much work and memory as in a large chunk.
 */
export class ChunkCount {
  private chunks = 0;
  private bytes = 0;

  /** Returns false when there are too many small chunks. */
  add(bytes: number): boolean {
    this.chunks += 1;
    this.bytes += bytes;
    return this.chunks <= FREE_CHUNKS || this.bytes >= this.chunks * MIN_AVERAGE_BYTES;
  }
}

/**
 * The bytes of a body, copied into one buffer as they arrive: kept separately, small chunks would take many times their
 * size.
 */
export class ByteAccumulator {
  private space: Buffer = Buffer.alloc(0);
  private size = 0;

  /** @param limitBytes the most that will ever be added */
  constructor(private readonly limitBytes: number) {}

  add(chunk: Buffer): void {
    const size = this.size + chunk.length;
    // In most cases the first chunk is the only one, and is not copied.
    if (this.size === 0) this.space = chunk;
    else {
      if (size > this.space.length) this.grow(size);
      chunk.copy(this.space, this.size);
    }
    this.size = size;
  }

  /** All bytes so far. */
  whole(): Buffer {
    return this.space.subarray(0, this.size);
  }

  private grow(size: number): void {
    const larger = Buffer.allocUnsafe(Math.max(size, Math.min(2 * size, this.limitBytes)));
    this.space.copy(larger, 0, 0, this.size);
    this.space = larger;
  }
}
