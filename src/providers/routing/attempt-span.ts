import type { ChargeBasis, TokenCounts } from '../../common/money/charge-basis.js';
import type { SpanEnd, TracedSpan } from '../../platform/observability/traced-span.js';
import type { FinishedAttempt, TriedRoute } from '../ports/attempt.js';

/** The span of one attempt, in the words of OpenTelemetry for generative AI. It began at `atMs`, by default now. */
export function beginAttempt(
  above: TracedSpan,
  operation: string,
  { provider, upstreamModel }: TriedRoute,
  atMs?: number,
): TracedSpan {
  const facts = { operation, provider, upstreamModel };
  return above.child(`${operation} ${upstreamModel}`, {
    kind: 'client',
    facts,
    ...(atMs !== undefined && { atMs }),
  });
}

/** Ends the span of an attempt whose answer was taken, with what was made. */
export function endAttempt(
  span: TracedSpan,
  made: Pick<ChargeBasis, 'quantity'> | null,
  responseId: string | null,
): void {
  const tokens = typeof made?.quantity === 'object' ? tokensOf(made.quantity) : undefined;
  span.end({ facts: { responseId: responseId ?? undefined, ...tokens } });
}

/** How an attempt ended that has taken its time; for one that failed, why. */
export function endOfAttempt({
  outcome,
  error,
  startedAtMs,
  durationMs,
}: FinishedAttempt): SpanEnd {
  return {
    atMs: startedAtMs + durationMs,
    facts: {
      status: error?.upstreamStatus,
      responseId: error?.providerRequestId ?? undefined,
    },
    ...(outcome !== 'success' && { error: outcome }),
  };
}

function tokensOf({ promptTokens, cachedTokens, completionTokens }: TokenCounts) {
  return {
    inputTokens: promptTokens,
    cachedTokens: cachedTokens ?? undefined,
    outputTokens: completionTokens,
  };
}
