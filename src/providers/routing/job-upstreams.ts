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
   * begins with the same key; keys that were refused a short time ago come last.
   */
  of(provider: string, affinity: string): readonly string[] {
    const base = this.registry.baseUrlOf(provider);
    const keys = this.registry.keysOf(provider);
    if (base === undefined || keys.length < 2) return base === undefined ? [] : [base];
    const first = placeOf(keys.length, affinity);
    const inTurn = [...keys.slice(first), ...keys.slice(0, first)];
    return this.registry.rests.restingLast(inTurn).map(({ id }) => `${base}${KEY_MARK}${id}`);
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

  private hasKey(provider: string, keyId: string): boolean {
    return this.registry.keysOf(provider).some(({ id }) => id === keyId);
  }
}

/** The base URL of an upstream, and the id of its key if it names one. */
export function partsOfUpstream(upstream: string): { base: string; keyId: string | undefined } {
  const [base = '', keyId] = upstream.split(KEY_MARK, 2);
  return { base, keyId };
}
