import type { JsonObject } from '../../common/json-object.js';
import type { ProviderFigures, UnchargedQuantity } from '../../common/money/charge-basis.js';

/**
 * Deviations of one model's requests from the standard form of its protocol, as its row declares them
 * (docs/reference/configuration.md, "Overlay file"). Fields are those at the upstream. No deviation affects the key, the
 * model, the messages, `stream` or the value of the output cap.
 */
export interface UpstreamTerms {
  /** The name of the field for the output cap. Chat only. */
  readonly outputCapParameter?: string;
  /** False: the upstream is not asked to report the usage of streams. Chat only. */
  readonly streamUsage?: boolean;
  /** New names of fields, by the name that is sent otherwise. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Fields that are not sent. */
  readonly drop?: readonly string[];
  /** Further headers, by their lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The `traceparent` of the caller is sent, if there is one. */
  readonly sendsTraceParent?: boolean;
  /** Fields with the same value in every request; they replace those of the caller. */
  readonly constants?: JsonObject;
  /** Maximum time without bytes from the upstream, before its response and within it. */
  readonly timeoutMs?: number;
  /** Unknown fields of messages, parts and tools that are sent nevertheless (decision G-92). Chat only. */
  readonly passFields?: readonly string[];
}

/** The protocols of text of which a route names one, the usual one first. */
export const UPSTREAM_PROTOCOLS = ['chat', 'responses'] as const;
export type UpstreamProtocol = (typeof UPSTREAM_PROTOCOLS)[number];

/** One way to run a model: a provider and the model's name there. */
export interface Route {
  readonly provider: string;
  readonly upstreamModel: string;
  /** The protocol of text that the model is asked in, where its provider speaks several; absent: chat completions. */
  readonly upstreamProtocol?: UpstreamProtocol | undefined;
  /** The share of text calls that begin here, against the weights of the model's other routes. */
  readonly weight?: number;
  /** How the requests of the model differ. The catalog adds those of the row. */
  readonly terms?: UpstreamTerms | undefined;
}

/** What of a route decides which requests it can carry. */
export type RouteTerms = Pick<Route, 'upstreamModel' | 'terms'>;

/** Receives the provider's own cost figures of one response. */
export type OnFigures = (figures: ProviderFigures) => void;

/** One route of an attempt, by the provider's public name. */
export interface TriedRoute {
  readonly provider: string;
  readonly upstreamModel: string;
}

/** What went wrong at a provider, in our own words. */
export type ProviderErrorKind =
  /** The request's content was refused. */
  | 'rejected'
  /** The text is longer than the provider accepts. */
  | 'too_long'
  | 'rate_limited'
  /** No response in time. The work may have been done. */
  | 'timeout'
  /** A failure, or a response that cannot be used. The work may have been done. */
  | 'http_error'
  /** No connection, overloaded, or the circuit breaker is open. */
  | 'unavailable'
  /** The provider does not know the path, model or voice that we sent. */
  | 'misconfigured'
  /** Our key, plan or balance at the provider is the cause. */
  | 'account';

/** Internal code of an attempt that sent nothing, because its owner may have lost the work to another process meanwhile. */
export const TOO_LATE = 'too_late_to_send';
/** Internal code of an attempt that sent nothing, because too much audio is being encoded. */
export const NO_ROOM = 'no_encoding_room';

/** How an attempt ended. `aborted`: the gateway ended it. */
export type AttemptOutcome = 'success' | 'aborted' | ProviderErrorKind;

/** What is kept of the error of an attempt. */
interface AttemptFault {
  readonly upstreamStatus: number | undefined;
  readonly upstreamCode: string | undefined;
  readonly providerRequestId: string | null;
}

/** An attempt that has ended, or one that was not made because its route could not be asked: then it took no time. */
export interface FinishedAttempt extends TriedRoute {
  readonly outcome: AttemptOutcome;
  readonly startedAtMs: number;
  /** Until the first usable byte of a stream, the end of any other response, or the failure. */
  readonly durationMs: number;
  /** Absent unless the provider failed, or could not be asked. */
  readonly error?: AttemptFault;
}

/**
 * The paid call or the step of a task for which attempts are made. It is passed from the call through the router to the
 * adapters, which read nothing of the HTTP request.
 */
export interface AttemptOwner {
  /** Aborting it closes the upstream connection. The attempt then rejects with the reason of the signal. */
  readonly signal: AbortSignal;
  /**
   * Failures of the provider count against this account, and its responses share the event loop with those of others.
   * Null outside of any call.
   */
  readonly accountId: string | null;
  /** Calls with the same one stay with one route and one key of its provider, whose caches know their prompts. */
  readonly affinity?: string | undefined;
  /** The only key of the provider with which the work is done, by its id: jobs belong to the account of a key. */
  readonly keyId?: string | undefined;
  /** It is asked about work that has begun, which no limit of a key stops. */
  readonly isFollowUp?: true | undefined;
  /** The caller's valid `traceparent`. */
  readonly traceParent?: string | undefined;
  /** The outcome says nothing of the operation: its breaker is neither asked nor told. */
  readonly isUnguarded?: true | undefined;
  /**
   * Whether a request may still leave. It is asked as the last thing before the first byte is written; where it is false, nothing is
   * sent, and the attempt fails with {@link TOO_LATE}.
   */
  readonly mayStillSend?: (() => boolean) | undefined;
  /** Acquires a connection to the provider; returns false if the provider has none free. */
  mayConnect?(provider: string): boolean;
  /** Called before the request is sent to the provider. `of` is the route as the owner gave it. */
  onAttempt?(route: TriedRoute, isSandbox: boolean, of: Route): void;
  /** Called at the end of each attempt, and for each route that could not be asked. */
  onAttemptEnd?: ((attempt: FinishedAttempt) => void) | undefined;
  /** Called with the cost of a response as the provider reports it. */
  readonly onFigures?: OnFigures | undefined;
  /** Called with what was made so far of a work of several requests. If it fails, that has its cost. */
  onMade?(made: UnchargedQuantity): void;
  /** Called for a response whose connection cannot be paused; `bytes` returns how much of it waits in memory. */
  onBuffering?(bytes: () => number): void;
}

/** What every attempt gets in addition to its command. */
export interface AttemptContext {
  /** The model's name at the provider. */
  readonly upstreamModel: string;
  /** See {@link Route}. */
  readonly upstreamProtocol?: UpstreamProtocol | undefined;
  /** Deviations of the model's requests from the standard form of the protocol. */
  readonly terms?: UpstreamTerms | undefined;
  /** Aborting it closes the upstream connection. The attempt then rejects with the reason of the signal. */
  readonly signal: AbortSignal;
  /** Absent where nobody has to be told about the attempt. */
  readonly owner?: AttemptOwner | undefined;
}
