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
import { NO_ROOM, TOO_LATE } from '../ports/attempt.js';
import type { Operation, PortByOperation } from '../ports/provider-ports.js';
import { AttemptMetrics } from './attempt-metrics.js';
import type { Permit } from './circuit-breaker.js';
import { isOfKey } from './key-rests.js';
import type { UpstreamKey } from './upstream-key.js';
import { type KeyedPort, ProviderRegistry } from './provider-registry.js';
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

  constructor(
    private readonly registry: ProviderRegistry,
    private readonly clock: Clock,
    @Inject(AttemptMetrics)
    private readonly watch: Pick<AttemptMetrics, 'attempted' | 'breakerChanged'>,
  ) {}

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

  /** Makes an attempt with one key of the route's provider, and with a further one where that is refused for itself. A paused route is not asked. */
  private async runOnKeys<O extends Operation, T>(
    route: Route,
    operation: O,
    work: ProviderWork<O, T>,
    owner: AttemptOwner,
  ): Promise<T> {
    const pauseSeconds = this.registry.paused.secondsLeft(route);
    if (pauseSeconds > 0) throw this.notAsked(route, owner, PAUSED, pauseSeconds);
    const keys = this.registry.portsFor(route, operation, owner);
    return this.onFirstAccepted(keys, route, operation, work, owner);
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
   * Makes one attempt on one route with the key that the owner names, else with the first, through the route's breaker unless the owner
   * is unguarded. A failure counts against the account for which the attempt is made.
   * @throws ProviderError, never sent: of kind `unavailable` while the breaker is open, the route or the key is not configured or
   * the call may have no connection; of kind `rate_limited` while the key is used as much as it may be.
   */
  async runOn<O extends Operation, T>(
    route: Route,
    operation: O,
    work: ProviderWork<O, T>,
    owner: AttemptOwner,
  ): Promise<T> {
    const keyed = this.registry.keyedPort(route, operation, owner.keyId);
    return keyed && owner.isFollowUp
      ? this.attempt(keyed, route, operation, work, owner)
      : this.onFirstAccepted(keyed ? [keyed] : [], route, operation, work, owner);
  }

  private async onFirstAccepted<O extends Operation, T>(
    keys: readonly KeyedPort<PortByOperation[O]>[],
    route: Route,
    operation: O,
    work: ProviderWork<O, T>,
    owner: AttemptOwner,
  ): Promise<T> {
    if (keys.length === 0) throw this.notAsked(route, owner, NOT_CONFIGURED, BREAKER_RETRY_SECONDS);
    return this.registry.rests.inTurn(keys, {
      attempt: (keyed) => this.attempt(keyed, route, operation, work, owner),
      atLimit: (seconds) => this.notAsked(route, owner, KEY_LIMIT, seconds, 'rate_limited'),
    });
  }

  private async attempt<O extends Operation, T>(
    { key, port }: KeyedPort<PortByOperation[O]>,
    route: Route,
    operation: O,
    work: ProviderWork<O, T>,
    owner: AttemptOwner,
  ): Promise<T> {
    const { upstreamModel, upstreamProtocol, terms } = route;
    const provider = this.registry.nameOf(route.provider);
    if (owner.mayConnect?.(provider) === false)
      throw this.notAsked(route, owner, NO_CONNECTION, CONNECTION_RETRY_SECONDS);
    const routePermit = this.permitOf(route, operation, owner);
    if (!routePermit) throw this.notAsked(route, owner, BREAKER_OPEN, BREAKER_RETRY_SECONDS);
    const permit = owner.isFollowUp ? routePermit : key.begin(routePermit);
    const startedAtMs = this.clock.nowMs();
    owner.onAttempt?.({ provider, upstreamModel }, this.registry.isSandbox(route.provider), route);
    const tell = (ended: Pick<FinishedAttempt, 'outcome' | 'error'>): void => {
      const durationMs = this.clock.nowMs() - startedAtMs;
      const { outcome } = ended;
      this.watch.attempted({ provider, route, operation, outcome, durationMs, key: key.name });
      owner.onAttemptEnd?.({ provider, upstreamModel, startedAtMs, durationMs, ...ended });
    };
    try {
      const { signal } = owner;
      const context = { upstreamModel, upstreamProtocol, terms, signal, owner };
      const result = await work(port, context);
      // That a job may be asked for says nothing of the balance of the key.
      if (!owner.isFollowUp) this.registry.rests.accepted(key, startedAtMs);
      tell({ outcome: 'success' });
      settleWhenDone(permit, result);
      return result;
    } catch (error) {
      tell(
        error instanceof ProviderError ? { outcome: error.kind, error } : { outcome: 'aborted' },
      );
      this.settle(permit, error, route, key, owner);
      throw error;
    }
  }

  /** The refusal of a key counts against the route only where the provider has no other. */
  private settle(
    permit: Permit,
    error: unknown,
    { provider }: Route,
    key: UpstreamKey,
    { isFollowUp }: AttemptOwner,
  ): void {
    const { rests } = this.registry;
    if (!isOfKey(error)) {
      // A question about a job tries no key.
      if (!isFollowUp) rests.undecided(key);
      settleFailed(permit, error);
      return;
    }
    rests.refused(key, error);
    if (this.registry.isLastKey(provider, key)) settleFailed(permit, error);
    else permit.abandoned();
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
    kind: 'unavailable' | 'rate_limited' = 'unavailable',
  ): ProviderError {
    const provider = this.registry.nameOf(route.provider);
    const detail = { provider, sent: false, upstreamCode, retryAfterSeconds };
    const error = new ProviderError(kind, detail);
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
/** Internal code: the route, or the key with which its job was begun, is no longer configured. */
const NOT_CONFIGURED = 'not_configured';
/** Internal code: the keys are used as much as the operator allows. */
export const KEY_LIMIT = 'key_limit';
/** Internal code: all connections to the provider are in use. */
const NO_CONNECTION = 'no_connection';
const CONNECTION_RETRY_SECONDS = 1;
/** Internal code: an operator has paused the route. */
const PAUSED = 'paused';
/** Internal codes of attempts that sent no request to the provider. */
const NOT_SENT_CODES: readonly (string | undefined)[] = [
  BREAKER_OPEN,
  NOT_CONFIGURED,
  NO_CONNECTION,
  KEY_LIMIT,
  PAUSED,
  TOO_LATE,
  NO_ROOM,
];
