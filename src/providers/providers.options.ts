import type { EndpointChange } from './http/endpoint-change.js';
import type { Protocol } from './ports/protocol.js';

/** One configured provider. */
export interface ProviderConfig {
  /** Named by the routes of the catalog. */
  readonly id: string;
  readonly protocol: Protocol;
  readonly baseUrl: string;
  /** Unset: the provider takes no key. */
  readonly apiKey?: string | undefined;
  /** What this upstream does in its own way. */
  readonly endpointChanges?: readonly EndpointChange[];
  /** The sandbox replaces this provider. Its results are test data and are lost when it stops. */
  readonly isSandbox?: true;
}

/** What the providers module is started with. */
export interface ProvidersOptions {
  readonly providers: readonly ProviderConfig[];
  /** Replaces every timeout of an upstream call. */
  readonly upstreamTimeoutMs?: number | undefined;
}

/** Injection token of the {@link ProvidersOptions}. */
export const PROVIDERS_OPTIONS = Symbol('PROVIDERS_OPTIONS');
