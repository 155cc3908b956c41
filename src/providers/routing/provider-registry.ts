import type {
  Operation,
  PortByOperation,
  ProbedPorts,
  ProbePort,
  ProviderPorts,
} from '../ports/provider-ports.js';
import type { AttemptOwner, ProviderErrorKind, Route } from '../ports/attempt.js';
import { createHash } from 'node:crypto';
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
import { KeyRests } from './key-rests.js';
import { type KeyLimits, UpstreamKey } from './upstream-key.js';
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
  /** What this process knows of each, in their order. Version 0.1.0 tells none. */
  readonly keys?: readonly KeyFigure[];
}

/** One of a provider's keys, by its number. */
export interface KeyFigure {
  readonly name: string;
  /** Why the provider refused it last; null once it has answered to it. */
  readonly refusedAs: ProviderErrorKind | null;
  readonly running: number;
  readonly lastMinute: number;
  readonly limits: KeyLimits;
}

/** An adapter with one key of its provider. */
export interface KeyedPort<Port> {
  readonly key: UpstreamKey;
  readonly port: Port;
}

interface Provider extends ProviderConfig {
  /** Its keys with the adapters of each; one without a text where it takes none. */
  readonly keyed: readonly [KeyedPort<ProbedPorts>, ...KeyedPort<ProbedPorts>[]];
}

/** Characters by which a task remembers a key: too few to find the key by. */
const KEY_ID_CHARS = 12;

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
  /** The keys that are left out for a time. */
  readonly rests: KeyRests;
  private readonly transport: HttpTransport;
  private uses: ReadonlyMap<string, UpstreamKey> = new Map();
  private providers: ReadonlyMap<string, Provider>;

  constructor(
    @Inject(PROVIDERS_OPTIONS) options: ProvidersOptions,
    private readonly clock: Clock,
    @Optional() private readonly download?: BoundedDownload,
  ) {
    this.transport = new HttpTransport(options.upstreamTimeoutMs);
    this.providers = this.built(options);
    this.paused = new PausedRoutes(clock);
    this.rests = new KeyRests(clock);
  }

  /** Replaces all providers at once. A running attempt continues at the provider where it began. */
  replace(options: ProvidersOptions): void {
    this.providers = this.built(options);
  }

  /** Whether the provider of the route is configured and has the operation (the catalog checks this at start). */
  canRun(route: Route, operation: Operation): boolean {
    return this.portOf(route, operation) !== undefined;
  }

  /** The adapter of the route for the operation, with the first of the provider's keys; undefined when it has none. */
  portOf<O extends Operation>(route: Route, operation: O): PortByOperation[O] | undefined {
    return this.keyedPort(route, operation)?.port;
  }

  /** {@link portOf} with the key of this id, else with the first; undefined where the provider has no such key. */
  keyedPort<O extends Operation>(
    { provider }: Pick<Route, 'provider'>,
    operation: O,
    keyId?: string,
  ): KeyedPort<PortByOperation[O]> | undefined {
    const all = this.providers.get(provider)?.keyed ?? [];
    const own = keyId === undefined ? all[0] : all.find(({ key }) => key.id === keyId);
    return own && withOperation(own, operation);
  }

  /**
   * The adapters of the route for the operation, one for each key of the provider, in the order in which one call tries them; that
   * of one key where the owner names it. Calls with the same affinity begin with the same key.
   */
  portsFor<O extends Operation>(
    route: Pick<Route, 'provider'>,
    operation: O,
    { affinity, keyId }: Pick<AttemptOwner, 'affinity' | 'keyId'>,
  ): readonly KeyedPort<PortByOperation[O]>[] {
    if (keyId !== undefined) {
      const keyed = this.keyedPort(route, operation, keyId);
      return keyed ? [keyed] : [];
    }
    const all = this.providers.get(route.provider)?.keyed ?? [];
    const first = all.length > 1 ? placeOf(all.length, affinity) : 0;
    return [...all.slice(first), ...all.slice(0, first)].flatMap(
      (own) => withOperation(own, operation) ?? [],
    );
  }

  /** Whether a refusal of this key is one of its provider: each of the others was refused for its balance or its plan. */
  isLastKey(provider: string, key: UpstreamKey): boolean {
    return this.keysOf(provider).every(
      (own) => own === key || this.rests.reasonOf(own) === 'account',
    );
  }

  /**
   * The base URL of a provider, of a vendor's file with the path of its jobs; undefined when it is not configured. Tasks keep
   * it, so that they notice a changed upstream.
   */
  baseUrlOf(provider: string): string | undefined {
    const { vendor, baseUrl } = this.providers.get(provider) ?? {};
    return vendor ? vendorUpstream(vendor) : baseUrl;
  }

  /** The keys of a provider in their order; one without a text where it takes none. */
  keysOf(provider: string): readonly UpstreamKey[] {
    return (this.providers.get(provider)?.keyed ?? []).map(({ key }) => key);
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
      count: provider.isSandbox ? 0 : keysIn(provider.apiKey).length,
      keys: this.keysOfProvider(provider),
    }));
  }

  /** Asks the provider with its first key; undefined where it is not configured. */
  probeOf(provider: string): ProbePort | undefined {
    return this.providers.get(provider)?.keyed[0].port.probe;
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
    const built = new Map(
      providers.map((config) => [config.id, { ...config, keyed: this.keyedOf(config) }]),
    );
    this.uses = new Map(
      [...built].flatMap(([id, { keyed }]) =>
        keyed.map(({ key }) => [`${id} ${key.id}`, key] as const),
      ),
    );
    return built;
  }

  private keyedOf(config: ProviderConfig): Provider['keyed'] {
    const id = config.isSandbox ? SANDBOX_NAME : config.id;
    const { protocol, keyLimits = {} } = config;
    const { transport, clock, download } = this;
    const keyedWith = (apiKey: string | undefined, index: number): KeyedPort<ProbedPorts> => {
      const keyId = keyIdOf(config.id, apiKey);
      const key = this.uses.get(`${config.id} ${keyId}`) ?? new UpstreamKey(keyId, clock);
      key.limits = keyLimits;
      key.name = `key-${index + 1}`;
      return {
        key,
        port: portsOf(protocol, { ...config, id, apiKey, transport, clock, download }),
      };
    };
    const [first, ...others] = keysIn(config.apiKey);
    return [keyedWith(first, 0), ...others.map((key, index) => keyedWith(key, index + 1))];
  }

  private keysOfProvider({ isSandbox, apiKey, keyed }: Provider): KeyFigure[] {
    if (isSandbox === true || keysIn(apiKey).length === 0) return [];
    return keyed.map(({ key }) => ({
      name: key.name,
      refusedAs: this.rests.reasonOf(key) ?? null,
      running: key.running,
      lastMinute: key.lastMinute,
      limits: key.limits,
    }));
  }
}

function withOperation<O extends Operation>(
  { key, port: ports }: KeyedPort<ProviderPorts>,
  operation: O,
): KeyedPort<PortByOperation[O]> | undefined {
  const port: PortByOperation[O] | undefined = ports[operation];
  return port && { key, port };
}

function keyIdOf(provider: string, apiKey: string | undefined): string {
  const digest = createHash('sha256')
    .update(`${provider}\n${apiKey ?? ''}`)
    .digest('hex');
  return digest.slice(0, KEY_ID_CHARS);
}

/** The keys of a setting, which may hold several with commas between them. */
function keysIn(setting: string | undefined): string[] {
  return (setting ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '');
}
