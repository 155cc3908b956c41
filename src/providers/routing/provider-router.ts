import assert from 'node:assert/strict';
import { Inject, Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Clock } from '../../common/time/clock.js';
import { ProviderError } from '../http/provider-error.js';
import type {
  AttemptContext,
  AttemptOwner,
  FinishedAttempt,
  Route,
  TriedRoute,
} from '../ports/attempt.js';
import { TOO_LATE } from '../ports/attempt.js';
import type { Operation, PortByOperation } from '../ports/provider-ports.js';
import { AttemptMetrics } from './attempt-metrics.js';
import type { Permit } from './circuit-breaker.js';
import { isOfKey, KeyRests } from './key-rests.js';
import { ProviderRegistry } from './provider-registry.js';
import { RouteBreaker } from './route-breaker.js';
import { settleFailed, settleWhenDone } from './settled-permit.js';

/** The work of each attempt, whichever route is chosen. */
export type ProviderWork<O extends Operation, T> = (
  port: PortByOperation[O],
  context: AttemptContext,
) => Promise<T>;

/** The result of an attempt, and the provider that it came from. */
export interface RoutedResult<T> extends TriedRoute {
  readonly result: T;
}

/**
 * Chooses the route of a call. There is one circuit breaker per provider and operation. The next route is tried only if
 * the previous one has certainly done nothing.
 */
@Injectable()
export class ProviderRouter {
  private readonly breakers = new Map<string, RouteBreaker>();
  private readonly rests: KeyRests;

  constructor(
    private readonly registry: ProviderRegistry,
    private readonly clock: Clock,
    @Inject(AttemptMetrics)
    private readonly watch: Pick<AttemptMetrics, 'attempted' | 'breakerChanged'>,
  ) {
    this.rests = new KeyRests(clock);
  }

  /**
   * Does the work on the first route that accepts it, in the given order. A result with a `body` stream counts as done
   * when the stream ends.
   * @throws GatewayError `no_eligible_route` without a configured route, `provider_unavailable` when all breakers are
   * open, otherwise the public form of the last failure, with the {@link ProviderError} as cause. An aborted signal
   * rejects with its reason.
   */
  async run<O extends Operation, T>(
    routes: readonly Route[],
    operation: O,
    work: ProviderWork<O, T>,
    owner: AttemptOwner,
  ): Promise<RoutedResult<T>> {
    const runnable = routes.filter((route) => this.registry.canRun(route, operation));
    if (runnable.length === 0) {
      throw new GatewayError('no_eligible_route', 'No route is available for this model.');
    }
    let failure: ProviderError | undefined;
    for (const route of runnable) {
      try {
        return {
          provider: this.registry.nameOf(route.provider),
          upstreamModel: route.upstreamModel,
          result: await this.runOnKeys(route, operation, work, owner),
        };
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        // The response of an earlier route is more useful than the error of a route that was not tried.
        if (!NOT_SENT_CODES.includes(error.upstreamCode) || !failure) failure = error;
        if (!error.safeToFailover) break;
      }
    }
    assert(failure, 'call failed without an error of any route');
    throw failure.toGatewayError(operation);
  }

  /**
   * Makes an attempt with one key of the route's provider; with a further one if that is refused for itself. Keys that were
   * refused a short time ago come last. A paused route is not asked.
   */
  private async runOnKeys<O extends Operation, T>(
    route: Route,
    operation: O,
    work: ProviderWork<O, T>,
    owner: AttemptOwner,
  ): Promise<T> {
    const pauseSeconds = this.registry.paused.secondsLeft(route);
    if (pauseSeconds > 0) throw this.notAsked(route, owner, PAUSED, pauseSeconds);
    const ports = this.registry.portsFor(route, operation, owner.affinity);
    // The only key is asked whatever it answered before.
    if (ports.length < 2) return this.runOn(route, operation, work, owner, ports[0]);
    const left = this.rests.restingLast(ports);
    // A key that is only at its rate will be accepted again.
    let isOneAtItsRate = false;
    for (;;) {
      const port = left.shift();
      assert(port, 'a provider has no key left');
      const beganAtMs = this.clock.nowMs();
      const keyCounts = left.length === 0 && !isOneAtItsRate;
      try {
        const result = await this.runOn(route, operation, work, owner, port, keyCounts);
        this.rests.accepted(port, beganAtMs);
        return result;
      } catch (error) {
        if (isOfKey(error)) this.rests.refused(port, error);
        else this.rests.undecided(port);
        if (!isOfKey(error) || error.isPartial || left.length === 0) throw error;
        isOneAtItsRate ||= error.kind === 'rate_limited';
      }
    }
  }

  /** Whether the adapter of a route has something that not each has. Nothing is asked. */
  offers<O extends Operation>(
    route: Route,
    operation: O,
    has: (port: PortByOperation[O]) => boolean,
  ): boolean {
    const port = this.registry.portOf(route, operation);
    return port !== undefined && has(port);
  }

  /**
   * Makes one attempt on one route, through its breaker unless its owner is unguarded. A failure counts against the account for
   * which the attempt is made.
   * @throws ProviderError of kind `unavailable`, never sent, while the breaker is open, the route is not configured or
   * the call may have no connection. `port` is the adapter with one of the provider's keys, by default the first. The refusal of
   * the key counts against the route unless `keyCounts` is false.
   */
  async runOn<O extends Operation, T>(
    route: Route,
    operation: O,
    work: ProviderWork<O, T>,
    owner: AttemptOwner,
    port = this.registry.portOf(route, operation),
    keyCounts = true,
  ): Promise<T> {
    const { upstreamModel, upstreamProtocol, terms } = route;
    const provider = this.registry.nameOf(route.provider);
    if (owner.mayConnect?.(provider) === false)
      throw this.notAsked(route, owner, NO_CONNECTION, CONNECTION_RETRY_SECONDS);
    const permit = port && this.permitOf(route, operation, owner);
    if (!permit) throw this.notAsked(route, owner, BREAKER_OPEN, BREAKER_RETRY_SECONDS);
    const startedAtMs = this.clock.nowMs();
    owner.onAttempt?.({ provider, upstreamModel }, this.registry.isSandbox(route.provider), route);
    const tell = (ended: Pick<FinishedAttempt, 'outcome' | 'error'>): void => {
      const durationMs = this.clock.nowMs() - startedAtMs;
      this.watch.attempted({ provider, route, operation, outcome: ended.outcome, durationMs });
      owner.onAttemptEnd?.({ provider, upstreamModel, startedAtMs, durationMs, ...ended });
    };
    try {
      const { signal } = owner;
      const context = { upstreamModel, upstreamProtocol, terms, signal, owner };
      const result = await work(port, context);
      tell({ outcome: 'success' });
      settleWhenDone(permit, result);
      return result;
    } catch (error) {
      tell(
        error instanceof ProviderError ? { outcome: error.kind, error } : { outcome: 'aborted' },
      );
      if (!keyCounts && isOfKey(error)) permit.abandoned();
      else settleFailed(permit, error);
      throw error;
    }
  }

  /** The providers with a breaker that is open to all callers. */
  get closedProviders(): string[] {
    const open = [...this.breakers].filter(([, breaker]) => breaker.isOpen);
    return [...new Set(open.map(([key]) => key.split(' ', 1).join()))];
  }

  /** The provider answers a probe, so that its open breakers let the next call test them, or it does not, and they stay so. */
  probed(provider: string, answers: boolean): void {
    for (const [key, breaker] of this.breakers) {
      if (key.startsWith(`${provider} `)) breaker.probed(answers);
    }
  }

  /** The error of a route that is not asked. Its owner is told as of an attempt that took no time. */
  private notAsked(
    route: Route,
    owner: AttemptOwner,
    upstreamCode: string,
    retryAfterSeconds: number,
  ): ProviderError {
    const provider = this.registry.nameOf(route.provider);
    const detail = { provider, sent: false, upstreamCode, retryAfterSeconds };
    const error = new ProviderError('unavailable', detail);
    const [startedAtMs, { upstreamModel }] = [this.clock.nowMs(), route];
    const outcome = error.kind;
    owner.onAttemptEnd?.({ provider, upstreamModel, outcome, startedAtMs, durationMs: 0, error });
    return error;
  }

  /**
   * The sandbox has no breaker: callers request its faults on purpose, and those of one caller must not stop the calls
   * of another.
   */
  private permitOf(
    { provider }: Route,
    operation: string,
    { accountId, isUnguarded }: AttemptOwner,
  ): Permit | null {
    return isUnguarded || this.registry.isSandbox(provider)
      ? UNGUARDED
      : this.breakerOf(provider, operation).enter(accountId);
  }

  private breakerOf(provider: string, operation: string): RouteBreaker {
    const key = `${provider} ${operation}`;
    const known = this.breakers.get(key);
    if (known) return known;
    const breaker = new RouteBreaker(this.clock, (state) => {
      this.watch.breakerChanged({ provider, operation, state });
    });
    this.breakers.set(key, breaker);
    return breaker;
  }
}

/**
 * What a call that an open breaker refuses is told to wait: after this time the breaker lets an attempt through. It does so sooner
 * once the provider answers a probe, and later while probes fail too (closed-route-probes.ts).
 */
const BREAKER_RETRY_SECONDS = 10;

const UNGUARDED: Permit = {
  succeeded: () => undefined,
  failed: () => undefined,
  abandoned: () => undefined,
};

/** Internal code of an attempt that an open breaker rejected. */
const BREAKER_OPEN = 'breaker_open';
/** Internal code: all connections to the provider are in use. */
const NO_CONNECTION = 'no_connection';
const CONNECTION_RETRY_SECONDS = 1;
/** Internal code: an operator has paused the route. */
const PAUSED = 'paused';
/** Internal codes of attempts that sent no request to the provider. */
const NOT_SENT_CODES: readonly (string | undefined)[] = [
  BREAKER_OPEN,
  NO_CONNECTION,
  PAUSED,
  TOO_LATE,
];
