import type { IncomingMessage, ServerResponse } from 'node:http';

/** A response that is partly in memory because its client is slow. */
export interface UnflushedResponse {
  /** The fairness bucket of its request. */
  readonly bucket: string;
  readonly unreadBytes: number;
  /** Bytes that its client has read since the last check of connections. */
  readonly takenBytes: number;
  /** Closes the connection. */
  disconnect(): void;
}

/** The limit of all buffered responses together. */
export interface ResponseMemoryLimit {
  readonly maxBytes: number;
  /** The fairness bucket of a request. */
  readonly bucketOf: (request: IncomingMessage) => string;
  /** Called with the number of clients that were disconnected. */
  readonly onDisconnected: (readers: number) => void;
}

/**
 * Disconnects clients until the rest fits the limit: each time, of the bucket with the most bytes, the client that has
 * read least. So a bucket with less than an equal share loses no client, however slow the clients of others are. This is
 * no `Quota`: the bytes are in memory already when they are counted, so they cannot be refused.
 */
export function disconnectSlowest(
  responses: readonly UnflushedResponse[],
  { maxBytes, onDisconnected }: Pick<ResponseMemoryLimit, 'maxBytes' | 'onDisconnected'>,
): void {
  const groups = [...byBucket(responses).values()];
  let bytes = sumOf(responses);
  let disconnected = 0;
  while (bytes > maxBytes) {
    const largest = groups.reduce((a, b) => (b.bytes > a.bytes ? b : a));
    const response = largest.responses.pop();
    if (!response) break;
    response.disconnect();
    disconnected += 1;
    largest.bytes -= response.unreadBytes;
    bytes -= response.unreadBytes;
  }
  if (disconnected > 0) onDisconnected(disconnected);
}

/** The responses of each bucket, the slowest last; among equally slow ones that with the most bytes. */
function byBucket(responses: readonly UnflushedResponse[]) {
  const groups = new Map<string, { bytes: number; responses: UnflushedResponse[] }>();
  const slowestLast = [...responses].sort(
    (a, b) => b.takenBytes - a.takenBytes || a.unreadBytes - b.unreadBytes,
  );
  for (const response of slowestLast) {
    const group = groups.get(response.bucket) ?? { bytes: 0, responses: [] };
    groups.set(response.bucket, group);
    group.bytes += response.unreadBytes;
    group.responses.push(response);
  }
  return groups;
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
