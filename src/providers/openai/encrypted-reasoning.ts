import { LRUCache } from 'lru-cache';
import { ProviderError } from '../http/provider-error.js';

const MAX_MODELS = 1_000;
/** What the vendor calls it. Looked for at the beginning of its message only, which quotes no text of the caller. */
const NAMED = /encrypted[ _]content|\binclude\b/i;
const MAX_READ_CHARS = 200;

/** Remembers which upstream models of one provider give no encrypted reasoning. Kept in memory, by the upstream's model name. */
export class EncryptedReasoning {
  private readonly without = new LRUCache<string, true>({ max: MAX_MODELS });

  /**
   * Sends a request that asks for encrypted reasoning. If the upstream refuses that, it is sent once more without it: a refused
   * request generates nothing, so nothing is paid twice. What worked is remembered.
   */
  async send<T>(model: string, send: (isEncrypted: boolean) => Promise<T>): Promise<T> {
    if (this.without.has(model)) return send(false);
    try {
      return await send(true);
    } catch (error) {
      if (!isRefused(error)) throw error;
      const answer = await send(false);
      this.without.set(model, true);
      return answer;
    }
  }
}

function isRefused(error: unknown): boolean {
  if (!(error instanceof ProviderError) || error.kind !== 'rejected') return false;
  const { upstreamStatus, upstreamParam, upstreamMessage = '' } = error;
  if (upstreamStatus !== 400 && upstreamStatus !== 422) return false;
  return upstreamParam === undefined
    ? NAMED.test(upstreamMessage.slice(0, MAX_READ_CHARS))
    : /^include\b/.test(upstreamParam);
}
