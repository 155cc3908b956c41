import { Inject, Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Quota } from '../platform/fairness/quota.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import type { Route } from '../providers/ports/attempt.js';
import { ProviderRegistry } from '../providers/routing/provider-registry.js';

const RETRY_AFTER_SECONDS = 1;

/**
 * Limits the connections that synchronous calls have open to one provider (`PROVIDER_MAX_CONNECTIONS`). A call acquires
 * its connection before its hold, so that no call with a hold waits for a connection (decision G-100).
 */
@Injectable()
export class ProviderConnectionLimit {
  /** By provider. */
  private readonly connections: Quota;

  constructor(
    @Inject(ProviderRegistry) private readonly registry: Pick<ProviderRegistry, 'nameOf'>,
    @Inject(GATEWAY_CONFIG)
    { providerMaxConnections }: Pick<GatewayConfig, 'providerMaxConnections'>,
  ) {
    this.connections = new Quota({ perBucket: providerMaxConnections });
  }

  /**
   * Acquires a connection at the first provider of the routes that has a free one; it must be released at the end of
   * the call. Throws 503 `service_unavailable` if all are in use.
   */
  acquire(routes: readonly Route[]): ConnectionLease {
    const lease = new ConnectionLease(this.connections);
    const isFound = routes.some((route) => lease.moveTo(this.registry.nameOf(route.provider)));
    if (isFound) return lease;
    throw new GatewayError('service_unavailable', 'All connections to the provider are in use.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}

/** The connection of one call to its current provider. */
export class ConnectionLease {
  private provider: string | undefined;

  constructor(private readonly connections: Quota) {}

  /**
   * Acquires a connection to this provider and releases the current one. If none is free, returns false and changes
   * nothing.
   */
  moveTo(provider: string): boolean {
    if (provider === this.provider) return true;
    if (!this.connections.tryAcquire(provider)) return false;
    this.release();
    this.provider = provider;
    return true;
  }

  /** Releases the connection; a second call does nothing. */
  release(): void {
    if (this.provider !== undefined) this.connections.release(this.provider);
    this.provider = undefined;
  }
}
