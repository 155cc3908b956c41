import type { IncomingMessage, ServerResponse } from 'node:http';

/** An answer whose reader has not taken all of what is in memory. */
export interface UnflushedResponse {
  /** Whose answer it is. */
  readonly holder: string;
  readonly unreadBytes: number;
  /** What its reader took since connections were last checked. */
  readonly takenBytes: number;
  /** Closes the connection. */
  cut(): void;
}

/** How much of all answers together may wait in memory for readers. */
export interface ResponseMemoryLimit {
  readonly maxBytes: number;
  /** Whose request it is. */
  readonly holderOf: (request: IncomingMessage) => string;
  /** Called with the number of readers that were cut. */
  readonly onCut: (readers: number) => void;
}

/**
 * Cuts readers until what is left fits the bound: always one of the holder with the most bytes, the one that took least.
 * So a holder with less than an equal share loses none, however slow the readers of others are.
 */
export function disconnectSlowest(
  responses: readonly UnflushedResponse[],
  { maxBytes, onCut }: Pick<ResponseMemoryLimit, 'maxBytes' | 'onCut'>,
): void {
  const holders = [...byHolder(responses).values()];
  let bytes = sumOf(responses);
  let cut = 0;
  while (bytes > maxBytes) {
    const largest = holders.reduce((a, b) => (b.bytes > a.bytes ? b : a));
    const response = largest.responses.pop();
    if (!response) break;
    response.cut();
    cut += 1;
    largest.bytes -= response.unreadBytes;
    bytes -= response.unreadBytes;
  }
  if (cut > 0) onCut(cut);
}

/** The answers of each holder, the slowest last; among equally slow ones that with the most bytes. */
function byHolder(responses: readonly UnflushedResponse[]) {
  const holders = new Map<string, { bytes: number; responses: UnflushedResponse[] }>();
  const slowestLast = [...responses].sort(
    (a, b) => b.takenBytes - a.takenBytes || a.unreadBytes - b.unreadBytes,
  );
  for (const response of slowestLast) {
    const group = holders.get(response.holder) ?? { bytes: 0, responses: [] };
    holders.set(response.holder, group);
    group.bytes += response.unreadBytes;
    group.responses.push(response);
  }
  return holders;
}

function sumOf(responses: readonly UnflushedResponse[]): number {
  return responses.reduce((sum, { unreadBytes }) => sum + unreadBytes, 0);
}

const waiting = new WeakMap<ServerResponse, () => number>();

/** What a provider has sent of this answer waits in memory as well: `bytes` tells how much of it. */
export function countWaiting(response: ServerResponse, bytes: () => number): void {
  waiting.set(response, bytes);
}

/** The bytes of which {@link countWaiting} was told. */
export function waitingBytes(response: ServerResponse): number {
  return waiting.get(response)?.() ?? 0;
}
