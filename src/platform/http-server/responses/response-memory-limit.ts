import type { IncomingMessage, ServerResponse } from 'node:http';

/** A response that is partly in memory because its client is slow. */
export interface UnflushedResponse {
  /** The fairness bucket of its request. */
  readonly holder: string;
  readonly unreadBytes: number;
  /** Bytes that its client has read since the last check of connections. */
  readonly takenBytes: number;
  /** Closes the connection. */
  cut(): void;
}

/** The limit of all buffered responses together. */
export interface ResponseMemoryLimit {
  readonly maxBytes: number;
  /** The fairness bucket of a request. */
  readonly holderOf: (request: IncomingMessage) => string;
  /** Called with the number of clients that were disconnected. */
  readonly onCut: (readers: number) => void;
}

/**
 * Disconnects clients until the rest fits the limit: each time, of the bucket with the most bytes, the client that has
 * read least. So a bucket with less than an equal share loses no client, however slow the clients of others are. This is
 * no `Quota`: the bytes are in memory already when they are counted, so they cannot be refused.
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

/** The responses of each bucket, the slowest last; among equally slow ones that with the most bytes. */
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

/** Registers the bytes of a provider's response that are in memory for this response. */
export function countWaiting(response: ServerResponse, bytes: () => number): void {
  waiting.set(response, bytes);
}

/** The bytes that {@link countWaiting} has registered. */
export function waitingBytes(response: ServerResponse): number {
  return waiting.get(response)?.() ?? 0;
}
