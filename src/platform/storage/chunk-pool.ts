/** Size of the pieces in which stored files are read. Each reader of a file has one of them, and there may be thousands. */
const CHUNK_BYTES = 32_768;
/** Most pieces that are kept while nobody reads. */
const MOST_FREE = 512;

/**
 * Memory for pieces of files, used again and again. What a thousand readers take in a second is ten times what they have at
 * once: left to the garbage collector, it would be freed too late.
 */
export class ChunkPool {
  readonly #free: Buffer[] = [];
  readonly #lent = new WeakSet<ArrayBufferLike>();

  /** A piece of memory, filled with anything. */
  take(): Buffer {
    const chunk = this.#free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
    this.#lent.add(chunk.buffer);
    return chunk;
  }

  /**
   * After this call nobody may read the bytes. A piece that is never given back is collected as
   * garbage, and one of another origin is left to its owner.
   */
  giveBack({ buffer }: Buffer): void {
    if (!this.#lent.delete(buffer) || this.#free.length >= MOST_FREE) return;
    this.#free.push(Buffer.from(buffer));
  }
}

/** The pool of this process. */
export const FILE_CHUNKS = new ChunkPool();
