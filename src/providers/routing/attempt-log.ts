import { providerErrorBehind } from '../http/provider-fault.js';
import type { AttemptOutcome, FinishedAttempt, TriedRoute } from '../ports/attempt.js';

/** Most attempts that a record keeps: the first ones, and the last. */
export const MAX_KEPT_ATTEMPTS = 16;
/** Longest text of an attempt; the provider chose its id. */
const MAX_TEXT_CHARACTERS = 128;

/** What the record of a call or task keeps of one attempt, for operators. */
export interface KeptAttempt extends TriedRoute {
  readonly outcome: AttemptOutcome;
  /** Milliseconds from the admission of the call, or the submission of the task, to the start of the attempt. */
  readonly startMs: number;
  readonly durationMs: number;
  /** Milliseconds from the start of the attempt to its first usable byte; null: none came. */
  readonly firstByteMs: number | null;
  /** HTTP status of a failure. */
  readonly status: number | null;
  /** The provider's own code of its failure, or ours for why it was not asked. */
  readonly code: string | null;
  /** The provider's id of its answer. */
  readonly requestId: string | null;
  /** The step of a task. */
  readonly step?: string;
}

/** The record of an attempt of work that began at `startedAtMs`. */
export function keptAttemptOf(attempt: FinishedAttempt, startedAtMs: number): KeptAttempt {
  const { provider, upstreamModel, outcome, durationMs, error } = attempt;
  return {
    provider,
    upstreamModel,
    outcome,
    startMs: whole(attempt.startedAtMs - startedAtMs),
    durationMs: whole(durationMs),
    firstByteMs: outcome === 'success' ? whole(durationMs) : null,
    status: error?.upstreamStatus ?? null,
    code: clipped(error?.upstreamCode),
    requestId: clipped(error?.providerRequestId),
  };
}

/** The list with one more attempt, within {@link MAX_KEPT_ATTEMPTS}. */
export function withAttempt<T>(kept: readonly T[], attempt: T): readonly T[] {
  return [...kept.slice(0, MAX_KEPT_ATTEMPTS - 1), attempt];
}

const whole = (ms: number): number => Math.max(0, Math.round(ms));
const clipped = (text: string | null | undefined): string | null =>
  text == null || text === '' ? null : text.slice(0, MAX_TEXT_CHARACTERS);

/** The attempts of one paid call, in their order. */
export class AttemptLog {
  // Each open stream has one: a list of exactly its length is smaller than one that can grow.
  private kept: readonly FinishedAttempt[] = NONE;

  /** When the first request was sent; undefined before the end of that attempt. */
  get startedMs(): number | undefined {
    return this.kept.find(({ durationMs, outcome }) => durationMs > 0 || outcome === 'success')
      ?.startedAtMs;
  }

  add(attempt: FinishedAttempt): void {
    this.kept = withAttempt(this.kept, attempt);
  }

  /**
   * Of a call that succeeded `atMs` with the provider's id of the answer. Null where there was one attempt: the record says all of it
   * (`viewAttempts`).
   */
  ofSuccess(startedAtMs: number, atMs: number, requestId: string | null): Attempts {
    if (this.kept.length < 2) return null;
    return this.recordsWith(startedAtMs, (last) => ({
      durationMs: whole(atMs - last.startedAtMs),
      requestId: clipped(requestId),
    }));
  }

  /** Of a call that failed `atMs` with what was thrown. Null without an attempt. */
  ofFailure(startedAtMs: number, atMs: number, thrown: unknown, isAborted: boolean): Attempts {
    if (this.kept.length === 0) return null;
    return this.recordsWith(startedAtMs, (last) => {
      // The provider, or the gateway, ended it after its response had begun.
      const error = providerErrorBehind(thrown);
      if (last.outcome !== 'success' || (error === undefined && !isAborted)) return {};
      const durationMs = whole(atMs - last.startedAtMs);
      if (error === undefined) return { outcome: 'aborted', durationMs };
      const { outcome, status, code, requestId } = keptAttemptOf(
        { ...last, outcome: error.kind, error },
        startedAtMs,
      );
      return { outcome, status, code, requestId, durationMs };
    });
  }

  private recordsWith(
    startedAtMs: number,
    ofLast: (last: FinishedAttempt) => Partial<KeptAttempt>,
  ): Attempts {
    return this.kept.map((attempt, index) => ({
      ...keptAttemptOf(attempt, startedAtMs),
      ...(index === this.kept.length - 1 && ofLast(attempt)),
    }));
  }
}

type Attempts = readonly KeptAttempt[] | null;
const NONE: readonly FinishedAttempt[] = [];
