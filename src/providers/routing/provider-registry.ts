import type { Operation, PortByOperation, ProviderPorts } from '../ports/provider-ports.js';
import type { Route } from '../ports/attempt.js';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../../common/time/clock.js';
import { HttpTransport } from '../http/http-transport.js';
import {
  type ProviderConfig,
  PROVIDERS_OPTIONS,
  type ProvidersOptions,
} from '../providers.options.js';
import { portsOf, takesImageBytesOnly } from '../providers.js';

/** Provider name in the records of work done by the sandbox. */
const SANDBOX_NAME = 'sandbox';

interface Provider extends ProviderConfig {
  readonly ports: ProviderPorts;
}

/** The configured providers, and the operations of each. */
@Injectable()
export class ProviderRegistry implements OnModuleDestroy {
  private readonly transport: HttpTransport;
  private providers: ReadonlyMap<string, Provider>;

  constructor(
    @Inject(PROVIDERS_OPTIONS) options: ProvidersOptions,
    private readonly clock: Clock,
  ) {
    this.transport = new HttpTransport(options.upstreamTimeoutMs);
    this.providers = this.built(options);
  }

  /** Replaces all providers at once. A running attempt continues at the provider where it began. */
  replace(options: ProvidersOptions): void {
    this.providers = this.built(options);
  }

  /** Whether the provider of the route is configured and has the operation (the catalog checks this at start). */
  canRun(route: Route, operation: Operation): boolean {
    const ports: Partial<Record<Operation, unknown>> | undefined = this.portsAt(route);
    return ports?.[operation] !== undefined;
  }

  /** The adapter of the route for the operation; undefined when it has none. */
  portOf<O extends Operation>(route: Route, operation: O): PortByOperation[O] | undefined {
    return this.portsAt(route)?.[operation];
  }

  /**
   * The base URL of a provider; undefined when it is not configured. Tasks keep it, so that they notice a changed
   * upstream.
   */
  baseUrlOf(provider: string): string | undefined {
    return this.providers.get(provider)?.baseUrl;
  }

  /** Whether the provider of the route takes images as bytes alone, by no URL. */
  needsImageBytes({ provider }: Route): boolean {
    const protocol = this.providers.get(provider)?.protocol;
    return protocol !== undefined && takesImageBytesOnly(protocol);
  }

  /** Whether the sandbox replaces the provider. */
  isSandbox(provider: string): boolean {
    return this.providers.get(provider)?.isSandbox ?? false;
  }

  /** Whether the sandbox serves every provider. */
  get isSandboxOnly(): boolean {
    const all = [...this.providers.values()];
    return all.length > 0 && all.every(({ isSandbox }) => isSandbox === true);
  }

  /** The name of the provider in records and metrics. */
  nameOf(provider: string): string {
    return this.isSandbox(provider) ? SANDBOX_NAME : provider;
  }

  /** Closes all upstream connections. */
  async onModuleDestroy(): Promise<void> {
    await this.transport.close();
  }

  private built({ providers }: ProvidersOptions): ReadonlyMap<string, Provider> {
    return new Map(
      providers.map((config) => [config.id, { ...config, ports: this.portsOf(config) }]),
    );
  }

  private portsAt(route: Route): ProviderPorts | undefined {
    return this.providers.get(route.provider)?.ports;
  }

  private portsOf(config: ProviderConfig): ProviderPorts {
    const id = config.isSandbox ? SANDBOX_NAME : config.id;
    const access = { ...config, id, transport: this.transport, clock: this.clock };
    return portsOf(config.protocol, access);
  }
}
