import { Injectable } from '@nestjs/common';
import { ProviderRegistry } from './provider-registry.js';
import { placeOf } from './route-order.js';

/** Stands before the id of a key; no URL has a space. */
const KEY_MARK = ' key:';

/**
 * The upstreams that have the jobs of tasks. Jobs belong to the account of a key: an upstream is the base URL of a provider
 * (`ProviderRegistry.baseUrlOf`), with the id of a key where the provider has several.
 */
@Injectable()
export class JobUpstreams {
  constructor(private readonly registry: ProviderRegistry) {}

  /**
   * Those of a provider, in the order in which new work is tried there; none where it is not configured. Work with the same affinity
   * begins with the same key; keys that were refused a short time ago come last, and those at their own limits are left out.
   */
  of(provider: string, affinity: string): readonly string[] {
    const base = this.registry.baseUrlOf(provider);
    const keys = this.registry.keysOf(provider);
    if (base === undefined || keys.length < 2) {
      return base !== undefined && this.isFree(provider, base) ? [base] : [];
    }
    const first = placeOf(keys.length, affinity);
    const inTurn = [...keys.slice(first), ...keys.slice(0, first)];
    const free = this.registry.rests
      .restingLast(inTurn)
      .filter((key) => key.secondsUntilFree() === 0);
    return free.map(({ id }) => `${base}${KEY_MARK}${id}`);
  }

  /** Whether the key of an upstream is below the limits that the operator gave it. */
  isFree(provider: string, upstream: string): boolean {
    const { keyId } = partsOfUpstream(upstream);
    const [first, ...others] = this.registry.keysOf(provider);
    const key = keyId === undefined ? first : [first, ...others].find((own) => own?.id === keyId);
    return (key?.secondsUntilFree() ?? 0) === 0;
  }

  /** Why a job there cannot be asked for: the provider has another base URL or none, or no longer the key. */
  lackOf(provider: string, upstream: string): 'base_url' | 'key' | undefined {
    const { base, keyId } = partsOfUpstream(upstream);
    if (this.registry.baseUrlOf(provider) !== base) return 'base_url';
    const isThere = keyId === undefined || this.hasKey(provider, keyId);
    return isThere ? undefined : 'key';
  }

  /** The upstream with its key. One that names none has the first key of a provider with several. */
  withKey(provider: string, upstream: string): string {
    const [first, second] = this.registry.keysOf(provider);
    if (!first || !second || partsOfUpstream(upstream).keyId !== undefined) return upstream;
    return `${upstream}${KEY_MARK}${first.id}`;
  }

  /** The upstream with its key, also where the provider has one only. */
  named(provider: string, upstream: string): string {
    const [first] = this.registry.keysOf(provider);
    if (!first || partsOfUpstream(upstream).keyId !== undefined) return upstream;
    return `${upstream}${KEY_MARK}${first.id}`;
  }

  private hasKey(provider: string, keyId: string): boolean {
    return this.registry.keysOf(provider).some(({ id }) => id === keyId);
  }
}

/** The base URL of an upstream, and the id of its key if it names one. */
export function partsOfUpstream(upstream: string): { base: string; keyId: string | undefined } {
  const [base = '', keyId] = upstream.split(KEY_MARK, 2);
  return { base, keyId };
}
