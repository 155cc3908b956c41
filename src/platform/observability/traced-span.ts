/**
 * What a span can say, and nothing else: no prompt, answer, key, address or header has a place here. Names of attributes are in
 * `otlp-tracer.ts`.
 */
export interface SpanFacts {
  readonly method?: string;
  /** The pattern, never the path. */
  readonly route?: string;
  readonly status?: number | undefined;
  /** Why a request was refused. */
  readonly errorCode?: string | undefined;
  /** Public ids. */
  readonly executionId?: string;
  readonly accountId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly deliveryId?: string;
  /** The model that is sold. */
  readonly model?: string | undefined;
  readonly operation?: string;
  readonly provider?: string;
  /** The model's name at its provider. */
  readonly upstreamModel?: string;
  /** The provider's id of its answer. */
  readonly responseId?: string | undefined;
  readonly inputTokens?: number | undefined;
  readonly cachedTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly heldMicroUsd?: number | undefined;
  readonly chargedMicroUsd?: number | undefined;
}

/** How a span begins. */
export interface SpanStart {
  /** `client`: it waits for another server. */
  readonly kind?: 'server' | 'client';
  /** Unix milliseconds; default: now. */
  readonly atMs?: number;
  readonly facts?: SpanFacts;
}

/** How a span ends. */
export interface SpanEnd {
  /** Replaces the name. */
  readonly name?: string;
  /** Unix milliseconds; default: now. */
  readonly atMs?: number;
  readonly facts?: SpanFacts | undefined;
  /** What went wrong, in one word of ours; never a message. */
  readonly error?: string | undefined;
}

/** A piece of work of a trace that is exported. */
export interface TracedSpan {
  readonly traceId: string;
  /** The header `traceparent` for those who work for it. */
  readonly traceParent: string;
  child(name: string, start?: SpanStart): TracedSpan;
  /** Once; later calls change nothing. */
  end(end?: SpanEnd): void;
}

/** Where a span stands that has no span above it in this process. Ids are hexadecimal. */
export interface TracePlace extends SpanStart {
  readonly traceId: string;
  /** The id of the span itself; default: random. */
  readonly spanId?: string;
  /** The id of the span above it, in whatever process that was. */
  readonly parentId?: string;
  /** Whether it is exported; default: the share of traces decides. */
  readonly isSampled?: boolean;
  /** Another trace that this one goes on from. */
  readonly link?: TracedSpan | undefined;
}

/** What exports spans. */
export interface SpanExport {
  /** A span, or undefined where its trace is not sampled. */
  begin(name: string, place: TracePlace): TracedSpan | undefined;
  /** Sends what waits, within a few seconds. */
  close(): Promise<void>;
}

/** The same work, which was begun just now. Its span has no part in it: a fault of tracing changes neither its result nor its time. */
export function traced<T>(
  above: TracedSpan | undefined,
  name: string,
  work: Promise<T>,
  factsOf?: (result: T) => SpanFacts,
): Promise<T> {
  if (above === undefined) return work;
  const span = above.child(name);
  work
    .then(
      (result) => {
        span.end({ facts: factsOf?.(result) });
      },
      (error: unknown) => {
        span.end({ error: faultWordOf(error) });
      },
    )
    .catch(() => undefined);
  return work;
}

/** The code of an error, or the name of its class: never its message. */
export function faultWordOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
