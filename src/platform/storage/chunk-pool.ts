/** Size of the buffers in which stored files are read. Each open download uses one, and there may be thousands. */
const CHUNK_BYTES = 32_768;
/** Maximum free buffers that are kept. */
const MOST_FREE = 512;

/**
 * Buffers for reading files, reused. A thousand downloads use in one second ten times the buffers that they hold at one
 * time: the garbage collector would free them too late.
 */
export class ChunkPool {
  private readonly free: Buffer[] = [];
  private readonly lent = new WeakSet<ArrayBufferLike>();

  /** Returns a buffer with arbitrary content. */
  acquire(): Buffer {
    const chunk = this.free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
    this.lent.add(chunk.buffer);
    return chunk;
  }

  /**
   * Returns a buffer to the pool; nobody may read it afterwards. A buffer that is never returned is garbage collected;
   * a buffer that is not from the pool is ignored.
   */
  release({ buffer }: Buffer): void {
    if (!this.lent.delete(buffer) || this.free.length >= MOST_FREE) return;
    this.free.push(Buffer.from(buffer));
  }
}

/** The pool of this process. */
export const FILE_CHUNKS = new ChunkPool();
