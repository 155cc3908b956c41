/** A server may always send this many bytes in addition to the response body. A head has at most an eighth of it. */
const FREE_BYTES = 131_072;
/** Body bytes that allow one more byte of protocol overhead, such as the sizes of chunks. */
const BODY_PER_OVERHEAD = 4;

/**
 * Counts bytes from a server that are not body: interim responses, empty lines, sizes and extensions of chunks. A line
 * of it costs as much CPU as a large piece of a body, so a server that sends nothing else could occupy the process.
 */
export class ProtocolFloodGuard {
  private receivedBytes = 0;
  private takenBytes = 0;

  received(bytes: number): void {
    this.receivedBytes += bytes;
  }

  /** Counts body bytes that were read. */
  countBody(bytes: number): void {
    this.takenBytes += bytes;
  }

  /** `waitingBytes`: body bytes that were received but not read yet. */
  isTooMuch(waitingBytes: number): boolean {
    const bodyBytes = this.takenBytes + waitingBytes;
    const overheadBytes = this.receivedBytes - bodyBytes;
    return overheadBytes > FREE_BYTES + bodyBytes / BODY_PER_OVERHEAD;
  }
}
