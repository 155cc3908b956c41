import type {
  Operation,
  PortByOperation,
  ProbedPorts,
  ProbePort,
  ProviderPorts,
} from '../ports/provider-ports.js';
import type { Route } from '../ports/attempt.js';
import { Inject, Injectable, type OnModuleDestroy, Optional } from '@nestjs/common';
import { Clock } from '../../common/time/clock.js';
import { BoundedDownload } from '../../platform/http-client/bounded-download.js';
import { vendorUpstream } from '../async-json/vendor-file.js';
import { HttpTransport } from '../http/http-transport.js';
import {
  type ProviderConfig,
  PROVIDERS_OPTIONS,
  type ProvidersOptions,
} from '../providers.options.js';
import { BUILT_IN_PROVIDERS, portsOf, takesImageBytesOnly } from '../providers.js';
import { PausedRoutes } from './paused-routes.js';
import { placeOf } from './route-order.js';

/** Provider name in the records of work done by the sandbox. */
export const SANDBOX_NAME = 'sandbox';

/** Where the keys of a provider come from, and how many it has. */
export interface ConfiguredProvider {
  readonly id: string;
  readonly protocol: string;
  readonly isSandbox: boolean;
  /** The name of the variable; null where it takes no key. */
  readonly variable: string | null;
  readonly count: number;
}

interface Provider extends ProviderConfig {
  /** Those of each of its keys. */
  readonly ports: readonly [ProbedPorts, ...ProbedPorts[]];
}

/** Whether a provider can be called, by names alone. */
export interface ProviderKey {
  readonly provider: string;
  /** Name of the variable that holds its key; null: it takes none. */
  readonly variable: string | null;
  readonly servedBy: 'provider' | 'sandbox' | 'nobody';
}

/** The configured providers, and the operations of each. */
@Injectable()
export class ProviderRegistry implements OnModuleDestroy {
  /** The routes that get no new work now. */
  readonly paused: PausedRoutes;
  private readonly transport: HttpTransport;
  private providers: ReadonlyMap<string, Provider>;

  constructor(
    @Inject(PROVIDERS_OPTIONS) options: ProvidersOptions,
    private readonly clock: Clock,
    @Optional() private readonly download?: BoundedDownload,
  ) {
    this.transport = new HttpTransport(options.upstreamTimeoutMs);
    this.providers = this.built(options);
    this.paused = new PausedRoutes(clock);
  }

  /** Replaces all providers at once. A running attempt continues at the provider where it began. */
  replace(options: ProvidersOptions): void {
    this.providers = this.built(options);
  }

  /** Whether the provider of the route is configured and has the operation (the catalog checks this at start). */
  canRun(route: Route, operation: Operation): boolean {
    return this.portOf(route, operation) !== undefined;
  }

  /**
   * The adapter of the route for the operation; undefined when it has none. With several keys of the provider it is that of
   * the first, which jobs are asked about too.
   */
  portOf<O extends Operation>(route: Route, operation: O): PortByOperation[O] | undefined {
    return this.portsAt(route)[0]?.[operation];
  }

  /**
   * The adapters of the route for the operation, one for each key of the provider, in the order in which one call tries them.
   * Calls with the same affinity begin with the same key.
   */
  portsFor<O extends Operation>(
    route: Route,
    operation: O,
    affinity?: string,
  ): readonly PortByOperation[O][] {
    const all = this.portsAt(route);
    const first = all.length > 1 ? placeOf(all.length, affinity) : 0;
    return [...all.slice(first), ...all.slice(0, first)].flatMap((ports) => {
      const port: PortByOperation[O] | undefined = ports[operation];
      return port === undefined ? [] : [port];
    });
  }

  /**
   * The base URL of a provider, of a vendor's file with the path of its jobs; undefined when it is not configured. Tasks keep
   * it, so that they notice a changed upstream.
   */
  baseUrlOf(provider: string): string | undefined {
    const { vendor, baseUrl } = this.providers.get(provider) ?? {};
    return vendor ? vendorUpstream(vendor) : baseUrl;
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

  /** The providers and how many keys each has; the sandbox's key is none. */
  configured(): ConfiguredProvider[] {
    return [...this.providers.values()].map((provider) => ({
      id: provider.id,
      protocol: provider.protocol,
      isSandbox: provider.isSandbox === true,
      variable: provider.keyVariable ?? null,
      count: provider.isSandbox ? 0 : keysOf(provider.apiKey).length,
    }));
  }

  /** Asks the provider with its first key; undefined where it is not configured. */
  probeOf(provider: string): ProbePort | undefined {
    return this.providers.get(provider)?.ports[0].probe;
  }

  /** Whether the sandbox serves every provider. */
  get isSandboxOnly(): boolean {
    const all = [...this.providers.values()];
    return all.length > 0 && all.every(({ isSandbox }) => isSandbox === true);
  }

  /** Every provider that is built in or configured. */
  get keys(): ProviderKey[] {
    const configured = [...this.providers.values()].map(
      ({ id, keyVariable, isSandbox }): ProviderKey => ({
        provider: id,
        variable: keyVariable ?? null,
        servedBy: isSandbox === true ? 'sandbox' : 'provider',
      }),
    );
    const missing = BUILT_IN_PROVIDERS.filter(({ id }) => !this.providers.has(id));
    return [
      ...configured,
      ...missing.map(({ id, keyVariable }): ProviderKey => ({
        provider: id,
        variable: keyVariable,
        servedBy: 'nobody',
      })),
    ];
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

  private portsAt(route: Route): readonly ProviderPorts[] {
    return this.providers.get(route.provider)?.ports ?? [];
  }

  private portsOf(config: ProviderConfig): Provider['ports'] {
    const id = config.isSandbox ? SANDBOX_NAME : config.id;
    const { protocol } = config;
    const { transport, clock, download } = this;
    const portsWith = (apiKey: string | undefined): ProbedPorts =>
      portsOf(protocol, { ...config, id, apiKey, transport, clock, download });
    const [first, ...others] = keysOf(config.apiKey);
    return [portsWith(first), ...others.map(portsWith)];
  }
}

/** The keys of a setting, which may hold several with commas between them. */
function keysOf(setting: string | undefined): string[] {
  return (setting ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '');
}
