import { Injectable } from '@nestjs/common';
import { UsageReports, type UsageRow } from '../billing/usage/usage-reports.js';
import { Catalog } from '../catalog/catalog.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Clock } from '../common/time/clock.js';
import { DAY_MS } from '../common/time/spans.js';
import { BUILT_IN_PROVIDERS } from '../providers/providers.js';
import { ProviderRegistry } from '../providers/routing/provider-registry.js';
import type { PausableRoute, RoutePause } from '../providers/routing/route-pause-store.js';
import { RoutePauseStore } from '../providers/routing/route-pause-store.js';
import { RouteReports } from '../providers/routing/route-reports.js';
import type { RoutePauseBody } from './dto/admin.bodies.js';
import { type ProbeResult, probeResultOf } from './probe-result.js';
import { type ProviderHealth, providerHealthOf } from './provider-health.js';

const DEFAULT_PAUSE_MS = 3_600_000;
const MAX_PAUSE_MS = 30 * DAY_MS;
/** Most routes of a day; the catalog has fewer. */
const MAX_USAGE_ROWS = 5_000;
/** Longest wait for the answer to a probe. */
const PROBE_TIMEOUT_MS = 10_000;

/** What operators see of providers and do with their routes, for both the API and the command line. */
@Injectable()
export class OperatorProviders {
  constructor(
    private readonly catalog: Catalog,
    private readonly registry: ProviderRegistry,
    private readonly pauses: RoutePauseStore,
    private readonly reports: RouteReports,
    private readonly usage: UsageReports,
    private readonly clock: Clock,
  ) {}

  /** Every provider that is built in, configured or in the catalog, by its id. */
  async list(): Promise<ProviderHealth[]> {
    const [reports, pauses, today] = await Promise.all([
      this.reports.all(),
      this.pauses.list(),
      this.usageOfToday(),
    ]);
    const builtIn = BUILT_IN_PROVIDERS.map((provider) => ({
      id: provider.id,
      protocol: provider.protocol,
      variable: provider.keyVariable,
    }));
    return providerHealthOf({ rows: this.catalog.enabled(), builtIn, reports, pauses, today });
  }

  /** Throws 404 for a route that the catalog does not have, 400 for an end that is not within the next 30 days. */
  async pause(route: PausableRoute, body: RoutePauseBody, actor: string): Promise<RoutePause> {
    this.refuseUnknown(route);
    const nowMs = this.clock.nowMs();
    const { reason, expires_at: expiresAt } = body;
    const untilMs = expiresAt === undefined ? nowMs + DEFAULT_PAUSE_MS : expiresAt * 1000;
    if (untilMs <= nowMs || untilMs > nowMs + MAX_PAUSE_MS) {
      const message = 'expires_at must be in the future and at most 30 days ahead.';
      throw new GatewayError('invalid_request', message, { param: 'expires_at' });
    }
    const pause = { ...route, until: new Date(untilMs), reason, actor };
    await this.pauses.pause(pause);
    return { ...pause, pausedAt: new Date(nowMs) };
  }

  /** Ends the pause of exactly this route, if there is one. Throws 404 for a route that the catalog does not have. */
  async resume(route: PausableRoute): Promise<void> {
    // A pause may outlast its row of the catalog.
    const isPaused = (await this.pauses.list()).some(
      ({ provider, upstreamModel }) =>
        provider === route.provider && upstreamModel === route.upstreamModel,
    );
    if (!isPaused) this.refuseUnknown(route);
    await this.pauses.resume(route);
  }

  /**
   * Asks the provider for something that costs nothing. Changes neither breakers nor pauses. Throws 404 for a route that the catalog
   * does not have, 409 where this process has no access to the provider.
   */
  async probe(route: PausableRoute): Promise<ProbeResult> {
    this.refuseUnknown(route);
    const port = this.registry.probeOf(route.provider);
    if (port === undefined) {
      const message = 'The provider is not configured in the process that was asked.';
      throw new GatewayError('conflict', message, { param: 'provider' });
    }
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    const startedAtMs = this.clock.nowMs();
    const answer = await port.probe({ signal }).then(
      (found) => ({ found }),
      (error: unknown) => ({ error }),
    );
    const durationMs = Math.round(this.clock.nowMs() - startedAtMs);
    return probeResultOf({ route, answer, durationMs, isLate: signal.aborted });
  }

  private refuseUnknown({ provider, upstreamModel }: PausableRoute): void {
    const routes = this.catalog.enabled().flatMap((row) => row.routes);
    const isKnown =
      upstreamModel === null
        ? routes.some((route) => route.provider === provider) ||
          BUILT_IN_PROVIDERS.some(({ id }) => id === provider)
        : routes.some(
            (route) => route.provider === provider && route.upstreamModel === upstreamModel,
          );
    if (isKnown) return;
    const what = upstreamModel === null ? 'provider' : 'route of a model that is sold';
    const param = upstreamModel === null ? 'provider' : 'route';
    throw new GatewayError('not_found', `No such ${what}.`, { param });
  }

  private usageOfToday(): Promise<UsageRow[]> {
    const nowMs = this.clock.nowMs();
    const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
    return this.usage.rows({
      groupBy: ['provider', 'upstream_model'],
      from: dayOf(nowMs),
      to: dayOf(nowMs + DAY_MS),
      accountId: undefined,
      apiKeyId: undefined,
      model: undefined,
      limit: MAX_USAGE_ROWS,
      offset: 0,
    });
  }
}
