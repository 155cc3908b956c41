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
  readonly byteAccumulator: number;
  /** Answer status; 0 while unanswered or when the connection was cut. */
  readonly status: number;
  /** True when the client left before the answer was complete. */
  readonly isAborted: boolean;
}

/** A remembered request. How it ended is added later. */
export interface OpenRecord {
  status: number;
  isAborted: boolean;
}

interface RawRecord extends OpenRecord {
  readonly operation: string;
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly head: Buffer;
  readonly byteAccumulator: number;
}

/** Remembers the last requests and counts all, so that tests can ask what a provider would have received. */
export class Recorder {
  private records: RawRecord[] = [];
  private next = 0;
  private counts = new Map<string, number>();

  add(
    facts: Pick<RawRecord, 'operation' | 'method' | 'url' | 'headers'>,
    body: Buffer,
  ): OpenRecord {
    const record: RawRecord = {
      ...facts,
      // A copy, because a slice would keep the whole upload in memory.
      head: Buffer.from(body.subarray(0, MAX_BODY_BYTES)),
      byteAccumulator: body.length,
      status: 0,
      isAborted: false,
    };
    this.records[this.next % MAX_REQUESTS] = record;
    this.next++;
    this.counts.set(facts.operation, (this.counts.get(facts.operation) ?? 0) + 1);
    return record;
  }

  /** Requests received since the start or the last `clear`, by operation. */
  countByOperation(): Record<string, number> {
    return Object.fromEntries(this.counts);
  }

  /** The last requests, newest first. */
  last(limit: number): RecordedRequest[] {
    const count = Math.min(limit, this.records.length);
    const keysetPage: RecordedRequest[] = [];
    for (let back = 1; back <= count; back++) {
      const record = this.records[(this.next - back) % MAX_REQUESTS];
      if (record !== undefined) keysetPage.push(view(record));
    }
    return keysetPage;
  }

  clear(): void {
    this.records = [];
    this.next = 0;
    this.counts = new Map();
  }
}

function view(record: RawRecord): RecordedRequest {
  return {
    operation: record.operation,
    method: record.method,
    path: record.url.pathname,
    query: Object.fromEntries(record.url.searchParams),
    headers: record.headers,
    body: readable(record.head),
    byteAccumulator: record.byteAccumulator,
    status: record.status,
    isAborted: record.isAborted,
  };
}

function readable(head: Buffer): unknown {
  return parseJson(head) ?? head.toString('utf8');
}
