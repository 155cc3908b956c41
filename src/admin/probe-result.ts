import { faultOf, type ProviderFault } from '../providers/http/provider-fault.js';
import { ProviderError } from '../providers/http/provider-error.js';
import type { AttemptOutcome } from '../providers/ports/attempt.js';
import type { ProbeAnswer } from '../providers/ports/provider-ports.js';
import type { PausableRoute } from '../providers/routing/route-pause-store.js';

/** What came of a probe. */
export interface ProbeResult {
  readonly route: PausableRoute;
  readonly outcome: AttemptOutcome;
  readonly durationMs: number;
  /** Whether the provider lists the model; null where the list does not say. */
  readonly knowsModel: boolean | null;
  readonly fault: ProviderFault | null;
  readonly providerRequestId: string | null;
}

interface Probed {
  readonly route: PausableRoute;
  readonly answer: { readonly found: ProbeAnswer } | { readonly error: unknown };
  readonly durationMs: number;
  /** The time for the answer is over. */
  readonly isLate: boolean;
}

/** The result of a probe. Throws what is no failure of the provider. */
export function probeResultOf({ route, answer, durationMs, isLate }: Probed): ProbeResult {
  const nothing = { route, durationMs, knowsModel: null, fault: null, providerRequestId: null };
  if ('found' in answer) {
    const { models, providerRequestId } = answer.found;
    const { upstreamModel } = route;
    const knowsModel =
      models === null || upstreamModel === null ? null : models.includes(upstreamModel);
    return { ...nothing, outcome: 'success', knowsModel, providerRequestId };
  }
  const { error } = answer;
  if (error instanceof ProviderError) {
    const { kind: outcome, providerRequestId } = error;
    return { ...nothing, outcome, fault: faultOf(error), providerRequestId };
  }
  if (!isLate) throw error;
  return { ...nothing, outcome: 'timeout' };
}
