import { Inject, Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway-error.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import type { Route } from '../providers/ports/route.js';
import { ProviderRegistry } from '../providers/routing/provider-registry.js';

const RETRY_AFTER_SECONDS = 1;

/**
 * Bounds the connections that synchronous calls have open to one provider (`PROVIDER_MAX_CONNECTIONS`). A call takes
 * its place before its hold, so that no call waits for a connection unseen (decision G-100).
 */
@Injectable()
export class ProviderConnectionLimit {
  private readonly taken = new Map<string, number>();
  private readonly max: number;

  constructor(
    @Inject(ProviderRegistry) private readonly registry: Pick<ProviderRegistry, 'nameOf'>,
    @Inject(GATEWAY_CONFIG)
    { providerMaxConnections }: Pick<GatewayConfig, 'providerMaxConnections'>,
  ) {
    this.max = providerMaxConnections;
  }

  /**
   * A place at the first provider of the routes that has one; to be given back at the end of the call. Throws 503
   * `service_unavailable` when all are taken.
   */
  acquire(routes: readonly Route[]): ConnectionLease {
    const place = new ConnectionLease(this.taken, this.max);
    const isFound = routes.some((route) => place.moveTo(this.registry.nameOf(route.provider)));
    if (isFound) return place;
    throw new GatewayError('service_unavailable', 'All connections to the provider are in use.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}

/** The connection of one call, at the provider that it asks now. */
export class ConnectionLease {
  private provider: string | undefined;

  constructor(
    private readonly taken: Map<string, number>,
    private readonly max: number,
  ) {}

  /** Takes a place at this provider and gives the present one back. If there is none, returns false and changes nothing. */
  moveTo(provider: string): boolean {
    if (provider === this.provider) return true;
    const count = this.taken.get(provider) ?? 0;
    if (count >= this.max) return false;
    this.release();
    this.taken.set(provider, count + 1);
    this.provider = provider;
    return true;
  }

  /** Gives the place back; a second time does nothing. */
  release(): void {
    if (this.provider === undefined) return;
    const count = this.taken.get(this.provider) ?? 0;
    if (count > 1) this.taken.set(this.provider, count - 1);
    else this.taken.delete(this.provider);
    this.provider = undefined;
  }
}
