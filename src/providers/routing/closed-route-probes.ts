import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import { ProviderError } from '../http/provider-error.js';
import { ProviderRegistry } from './provider-registry.js';
import { ProviderRouter } from './provider-router.js';

/** Within the time after which an open breaker lets an attempt through. */
const INTERVAL_MS = 3_000;
const TIMEOUT_MS = 3_000;
/** Statuses from which on the provider says that it fails. An answer of another kind, or a refusal, shows that it is there. */
const FAILING_STATUS = 500;

/**
 * Asks providers with an open breaker for something that costs nothing. Once that succeeds, the next call tests the route without
 * a further wait; while it fails, fewer calls of customers are spent on that test. There is one probe of a provider at a time.
 */
@Injectable()
export class ClosedRouteProbes implements OnApplicationBootstrap {
  constructor(
    private readonly registry: ProviderRegistry,
    private readonly router: ProviderRouter,
    private readonly scheduler: Scheduler,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'closed-route-probes',
      intervalMs: INTERVAL_MS,
      servesOwnCalls: true,
      tick: (stopping) => this.probeAll(stopping),
    });
  }

  /** Probes each provider with an open breaker once, all at the same time. */
  async probeAll(stopping: AbortSignal): Promise<void> {
    await Promise.all(
      this.router.closedProviders.map(async (provider) => {
        const answers = await this.answers(provider, stopping);
        if (answers !== undefined) this.router.probed(provider, answers);
      }),
    );
  }

  /** Undefined where the probe says neither: the provider has none, refuses it, or gives no sensible answer. */
  private async answers(provider: string, stopping: AbortSignal): Promise<boolean | undefined> {
    const port = this.registry.probeOf(provider);
    if (!port) return undefined;
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    try {
      await port.probe({ signal: AbortSignal.any([stopping, timeout]) });
      return true;
    } catch (error) {
      const isAway =
        error instanceof ProviderError
          ? (error.upstreamStatus ?? FAILING_STATUS) >= FAILING_STATUS
          : timeout.aborted && !stopping.aborted;
      return isAway ? false : undefined;
    }
  }
}
