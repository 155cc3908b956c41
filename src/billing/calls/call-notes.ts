import type { AdmittedCall } from '../../admission/admitted-call.js';
import { reportedCostOf } from '../../catalog/reported-cost.js';
import { type CostedRoute, type MadeUnits, routeCostOf } from '../../catalog/route-cost.js';
import type { ProviderFigures, UnchargedQuantity } from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { FinishedAttempt, TriedRoute } from '../../providers/ports/attempt.js';
import { logAnswer, logAttempt } from '../../platform/observability/request-log.js';
import { providerErrorBehind } from '../../providers/http/provider-fault.js';
import { faultWordOf, type TracedSpan, traced } from '../../platform/observability/traced-span.js';
import { beginAttempt, endAttempt, endOfAttempt } from '../../providers/routing/attempt-span.js';
import { AttemptLog } from '../../providers/routing/attempt-log.js';
import type { Operation } from '../../providers/ports/provider-ports.js';
import type { ExecutionEnd, Held } from './execution-commands.js';

type Noted = Pick<ExecutionEnd, 'providerFigures' | 'outputCap' | 'costMicroUsd' | 'attempts'>;
type Tried = Partial<TriedRoute> & Pick<ExecutionEnd, 'uncharged'>;

/** How a call failed, and when. */
interface CallFailure {
  readonly thrown: unknown;
  readonly isAborted: boolean;
  readonly atMs: number;
}

/** What becomes known about a paid call while it runs, and is recorded however it ends. */
export class CallNotes {
  /** What was generated so far. */
  uncharged: UnchargedQuantity | null = null;
  /** The output cap that the gateway chose. */
  outputCap: number | undefined;
  private tried: TriedRoute | undefined;
  private route: CostedRoute | undefined;
  private figures: ProviderFigures | null | undefined;
  private readonly attempts = new AttemptLog();
  /** Of the attempt that runs, or whose answer is still forwarded. */
  private span: TracedSpan | undefined;

  /** The call was admitted at this time; the line of its request in the log names the provider. */
  constructor(
    private readonly startedAtMs: number,
    private readonly call: Pick<AdmittedCall, 'request'> & {
      readonly row: { operation: Operation };
    },
  ) {}

  /** The `traceparent` for a provider: that of the attempt if the call is traced, else the caller's. */
  get traceParent(): string | undefined {
    return this.span?.traceParent ?? this.request?.traceParent;
  }

  /** The same promise; if the call is traced, its span is that of the request's part with this name. */
  traced<T>(
    name: 'hold' | 'settlement' | 'release',
    work: Promise<T>,
    amountOf?: (result: T) => MicroUsd | undefined,
  ): Promise<T> {
    const above = this.request?.span;
    if (above === undefined) return work;
    const fact = name === 'hold' ? 'heldMicroUsd' : 'chargedMicroUsd';
    return traced(above, name, work, (result) => {
      const amount = amountOf?.(result);
      return amount === undefined ? {} : { [fact]: Number(amount) };
    });
  }

  /** An attempt begins. Figures of a provider that did nothing are dropped. */
  onAttempt(tried: TriedRoute, route: CostedRoute | undefined): void {
    this.tried = tried;
    this.route = route;
    this.figures = null;
    const above = this.request?.span;
    if (above) this.span = beginAttempt(above, this.call.row.operation, tried);
  }

  onAttemptEnd(attempt: FinishedAttempt): void {
    this.attempts.add(attempt);
    // An attempt that was not made took no time.
    const isMade = attempt.durationMs > 0 || attempt.error === undefined;
    if (this.request && isMade) logAttempt(this.request, attempt);
    if (this.request?.span) this.traceEnd(this.request.span, attempt);
  }

  /** The first byte of a streamed answer was sent, so many milliseconds after the admission. */
  onFirstByte(afterMs: number): void {
    if (this.request?.upstream) this.request.upstream.firstByteMs = afterMs;
  }

  /** Cost figures that the provider reported. */
  onFigures(figures: ProviderFigures): void {
    this.figures = { ...this.figures, ...figures };
  }

  /** Milliseconds from the first attempt that was made until `atMs`; undefined without one. */
  upstreamMs(atMs: number): number | undefined {
    const startedMs = this.attempts.startedMs;
    return startedMs === undefined ? undefined : Math.max(0, atMs - startedMs);
  }

  /** For the record of a call that succeeded with what was made, and the provider's id of its answer. */
  ofSuccess(made: MadeUnits | null, atMs: number, requestId: string | null): Noted {
    if (this.request) logAnswer(this.request, requestId);
    if (this.span) endAttempt(this.span, made, requestId);
    const attempts = this.attempts.ofSuccess(this.startedAtMs, atMs, requestId);
    return { ...this.noted, attempts, costMicroUsd: this.costOf(made) };
  }

  /** For the record of a call that failed. */
  ofFailure({ thrown, isAborted, atMs }: CallFailure): Noted & Tried {
    const { tried, noted, uncharged } = this;
    const error = providerErrorBehind(thrown);
    this.span?.end({ error: isAborted ? 'aborted' : (error?.kind ?? faultWordOf(thrown)) });
    if (this.request && error) logAnswer(this.request, error.providerRequestId);
    const attempts = this.attempts.ofFailure(this.startedAtMs, atMs, thrown, isAborted);
    return { ...tried, ...noted, attempts, uncharged, costMicroUsd: this.costOf(uncharged) };
  }

  private get request(): AdmittedCall['request'] {
    return this.call.request;
  }

  /** The span of an answer goes on until it is forwarded and settled. */
  private traceEnd(above: TracedSpan, attempt: FinishedAttempt): void {
    if (attempt.outcome === 'success') return;
    const { operation } = this.call.row;
    // A route that could not be asked has no span yet.
    const span = this.span ?? beginAttempt(above, operation, attempt, attempt.startedAtMs);
    span.end(endOfAttempt(attempt));
    this.span = undefined;
  }

  private get noted(): Omit<Noted, 'costMicroUsd' | 'attempts'> {
    const { figures, outputCap } = this;
    return {
      ...(figures !== undefined && { providerFigures: figures }),
      ...(outputCap !== undefined && { outputCap }),
    };
  }

  /**
   * What the work costs at its provider: the provider's own figure where its unit is declared, else what was made, at the
   * cost of the route. Null where neither is known: a failed call of which the provider said nothing has no cost.
   */
  private costOf(made: MadeUnits | null): MicroUsd | null {
    const { route, figures } = this;
    if (route === undefined) return null;
    const reported = reportedCostOf(route.reportedCost, figures);
    return reported ?? (made === null ? null : (routeCostOf(route, made) ?? null));
  }
}

/** What a start holds; undefined where it was refused. */
export function amountHeld(result: Held | { readonly outcome: string }): MicroUsd | undefined {
  return 'capReason' in result ? result.amountMicroUsd : undefined;
}
