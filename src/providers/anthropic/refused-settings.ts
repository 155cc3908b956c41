import { LRUCache } from 'lru-cache';
import { ProviderError } from '../http/provider-error.js';

/**
 * Settings of a request that only some models take: `effort` (adaptive thinking, which an effort guides), `budget` (thinking
 * within a number of tokens), `sampling` (temperature and its kin).
 */
export type ModelSetting = 'effort' | 'budget' | 'sampling';

/** What the vendor calls the setting. Looked for at the beginning of its message only, which quotes no text of the caller. */
const NAMED: readonly (readonly [ModelSetting, RegExp])[] = [
  ['effort', /adaptive|\beffort\b/i],
  ['budget', /thinking\.(type\.)?enabled|budget_tokens/i],
  ['sampling', /\b(temperature|top_p|top_k)\b/i],
];
const REFUSAL =
  /not (supported|available|permitted|allowed)|unsupported|does not support|deprecated|no longer/i;
const MAX_READ_CHARS = 200;
const MAX_MODELS = 1_000;

/** Remembers which settings an upstream model of one provider does not take. Kept in memory, by the upstream's model name. */
export class RefusedSettings {
  private readonly byModel = new LRUCache<string, ReadonlySet<ModelSetting>>({ max: MAX_MODELS });

  /**
   * Sends a request. If the upstream refuses a setting, it is sent again without that: a refused request generates nothing,
   * so nothing is paid twice. What worked is remembered.
   */
  async send<T>(
    model: string,
    send: (refused: ReadonlySet<ModelSetting>) => Promise<T>,
  ): Promise<T> {
    const known = this.byModel.get(model) ?? new Set();
    let refused = known;
    for (;;) {
      try {
        const answer = await send(refused);
        if (refused !== known) this.byModel.set(model, refused);
        return answer;
      } catch (error) {
        const setting = refusedSettingOf(error);
        if (setting === undefined || refused.has(setting)) throw error;
        refused = new Set(refused).add(setting);
      }
    }
  }
}

function refusedSettingOf(error: unknown): ModelSetting | undefined {
  if (!(error instanceof ProviderError) || error.kind !== 'rejected') return undefined;
  const text = error.upstreamMessage?.slice(0, MAX_READ_CHARS) ?? '';
  if (error.upstreamStatus !== 400 || !REFUSAL.test(text)) return undefined;
  // The one that is named first: the sentence may go on with what is taken instead.
  const found = NAMED.map(([setting, name]) => ({ setting, at: text.search(name) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  return found[0]?.setting;
}
