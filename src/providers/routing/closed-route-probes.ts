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
 * Asks providers with an open breaker for something that costs nothing. While that fails, fewer calls of customers are spent on
 * the test whether the route works again.
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
        if (await this.isAway(provider, stopping)) this.router.stillFails(provider);
      }),
    );
  }

  private async isAway(provider: string, stopping: AbortSignal): Promise<boolean> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const signal = AbortSignal.any([stopping, timeout]);
    try {
      await this.registry.probeOf(provider)?.probe({ signal });
      return false;
    } catch (error) {
      if (error instanceof ProviderError)
        return (error.upstreamStatus ?? FAILING_STATUS) >= FAILING_STATUS;
      return timeout.aborted && !stopping.aborted;
    }
  }
}
