import type { VendorFile } from './async-json/vendor-file.js';
import type { Protocol } from './providers.js';
import type { KeyLimits } from './routing/upstream-key.js';

/** One configured provider. */
export interface ProviderConfig {
  /** The name that routes of the catalog use. */
  readonly id: string;
  readonly protocol: Protocol;
  readonly baseUrl: string;
  /** Unset: the provider takes no key. */
  readonly apiKey?: string | undefined;
  /** Name of the variable that holds the key, or would hold it where the sandbox replaces the provider. */
  readonly keyVariable?: string | undefined;
  /** The sandbox replaces this provider. Its results are test data, and they are lost when it stops. */
  readonly isSandbox?: true;
  /** The file that describes it, with the protocol `async-json`. */
  readonly vendor?: VendorFile;
  /** What each of its keys may be used for in this process. */
  readonly keyLimits?: KeyLimits | undefined;
}

/** The configuration of the providers module. */
export interface ProvidersOptions {
  readonly providers: readonly ProviderConfig[];
  /** Replaces every timeout of an upstream call. */
  readonly upstreamTimeoutMs?: number | undefined;
}

/** Injection token of the {@link ProvidersOptions}. */
export const PROVIDERS_OPTIONS = Symbol('PROVIDERS_OPTIONS');
