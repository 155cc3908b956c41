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
  answers: readonly UnflushedResponse[],
  { maxBytes, onCut }: Pick<ResponseMemoryLimit, 'maxBytes' | 'onCut'>,
): void {
  const holders = [...byHolder(answers).values()];
  let bytes = sumOf(answers);
  let cut = 0;
  while (bytes > maxBytes) {
    const largest = holders.reduce((a, b) => (b.bytes > a.bytes ? b : a));
    const answer = largest.answers.pop();
    if (!answer) break;
    answer.cut();
    cut += 1;
    largest.bytes -= answer.unreadBytes;
    bytes -= answer.unreadBytes;
  }
  if (cut > 0) onCut(cut);
}

/** The answers of each holder, the slowest last; among equally slow ones that with the most bytes. */
function byHolder(answers: readonly UnflushedResponse[]) {
  const holders = new Map<string, { bytes: number; answers: UnflushedResponse[] }>();
  const slowestLast = [...answers].sort(
    (a, b) => b.takenBytes - a.takenBytes || a.unreadBytes - b.unreadBytes,
  );
  for (const answer of slowestLast) {
    const own = holders.get(answer.holder) ?? { bytes: 0, answers: [] };
    holders.set(answer.holder, own);
    own.bytes += answer.unreadBytes;
    own.answers.push(answer);
  }
  return holders;
}

function sumOf(answers: readonly UnflushedResponse[]): number {
  return answers.reduce((sum, { unreadBytes }) => sum + unreadBytes, 0);
}

const waiting = new WeakMap<ServerResponse, () => number>();

/** What a provider has sent of this answer waits in memory as well: `bytes` tells how much of it. */
export function countWaiting(answer: ServerResponse, bytes: () => number): void {
  waiting.set(answer, bytes);
}

/** The bytes of which {@link countWaiting} was told. */
export function waitingBytes(answer: ServerResponse): number {
  return waiting.get(answer)?.() ?? 0;
}
