import type { IncomingHttpHeaders } from 'node:http';
import { parseJson } from './json.js';

/** This many requests are remembered; older ones are dropped. */
const MAX_REQUESTS = 1000;
/** Of longer bodies, only this much is remembered. */
const MAX_BODY_BYTES = 16_384;

/** A request as the sandbox received it. */
export interface RecordedRequest {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /**
   * Parsed JSON, or the text as it was received. Text stays text when it was cut at 16 KB; files are in their multipart
   * text.
   */
  readonly body: unknown;
  readonly bodyBytes: number;
  /** Answer status; 0 while unanswered or when the connection was cut. */
  readonly status: number;
  /** True when the client left before the answer was complete. */
  readonly isAborted: boolean;
}

/** A remembered request. How it ended is added later. */
type Remembered = Omit<RecordedRequest, 'path' | 'query' | 'body' | keyof Ending> &
  Ending & { readonly url: URL; readonly head: Buffer };

interface Ending {
  status: number;
  isAborted: boolean;
}

/** Remembers the last requests and counts all, so that tests can ask what a provider would have received. */
export class Recorder {
  private readonly records: Remembered[] = [];
  private readonly counts = new Map<string, number>();

  add(facts: Pick<Remembered, 'operation' | 'method' | 'url' | 'headers'>, body: Buffer): Ending {
    // A copy, because a slice would keep the whole upload in memory.
    const head = Buffer.from(body.subarray(0, MAX_BODY_BYTES));
    const record = { ...facts, head, bodyBytes: body.length, status: 0, isAborted: false };
    this.records.push(record);
    if (this.records.length > MAX_REQUESTS) this.records.shift();
    this.counts.set(facts.operation, (this.counts.get(facts.operation) ?? 0) + 1);
    return record;
  }

  /** Requests received since the start or the last `clear`, by operation. */
  countByOperation(): Record<string, number> {
    return Object.fromEntries(this.counts);
  }

  /** The last requests, newest first. */
  last(limit: number): RecordedRequest[] {
    return limit > 0 ? this.records.slice(-limit).reverse().map(viewOf) : [];
  }

  clear(): void {
    this.records.length = 0;
    this.counts.clear();
  }
}

function viewOf({ url, head, ...record }: Remembered): RecordedRequest {
  return {
    ...record,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    body: parseJson(head) ?? head.toString('utf8'),
  };
}
