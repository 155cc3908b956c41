/** A server may always send this much besides the body of its answer. A head has at most an eighth of it. */
const FREE_BYTES = 131_072;
/** A body may bring this many bytes for each byte of what else is sent, such as the sizes of its chunks. */
const BODY_PER_OVERHEAD = 4;

/**
 * Counts what a server sends and is no body: interim answers, empty lines, sizes and extensions of chunks. A line of
 * it costs as much work as a large piece of a body, so a server that sends nothing else could occupy the process.
 */
export class ProtocolFloodGuard {
  private receivedBytes = 0;
  private takenBytes = 0;

  received(bytes: number): void {
    this.receivedBytes += bytes;
  }

  /** Counts bytes of the body that its reader has taken. */
  taken(bytes: number): void {
    this.takenBytes += bytes;
  }

  /** `waitingBytes`: of the body, not taken yet. */
  isTooMuch(waitingBytes: number): boolean {
    const bodyBytes = this.takenBytes + waitingBytes;
    const overheadBytes = this.receivedBytes - bodyBytes;
    return overheadBytes > FREE_BYTES + bodyBytes / BODY_PER_OVERHEAD;
  }
}
