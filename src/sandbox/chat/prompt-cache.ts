import { createHash } from 'node:crypto';
import { tokensOf } from './chat-reply.js';

/** This many prefixes are remembered; older ones are dropped. */
const MAX_ENTRIES = 1000;
const LIFE_MS = { '5m': 300_000, '1h': 3_600_000 } as const;
/** Tokens that every block costs in addition to its text. */
const TOKENS_PER_BLOCK = 3;

/** One block of a prompt, in the order in which it is cached: tools, system, messages. */
export interface PromptBlock {
  readonly text: string;
  /** Where the prompt up to and with this block is to be cached, and for how long. */
  readonly cache: '5m' | '1h' | undefined;
}

/** The tokens of a prompt in lines that exclude each other. */
export interface PromptLines {
  readonly plain: number;
  readonly read: number;
  readonly writtenFor5m: number;
  readonly writtenFor1h: number;
}

interface Entry {
  readonly lifeMs: number;
  expiresMs: number;
}

/** The prefixes of prompts that callers had cached, by the hash of model and text. */
export class PromptCache {
  private readonly entries = new Map<string, Entry>();

  /** Looks the prompt up, keeps what it wants kept, and counts its lines. */
  take(model: string, blocks: readonly PromptBlock[], nowMs: number): PromptLines {
    let [hash, total, read] = [model, 0, 0];
    const marked: { hash: string; tokens: number; cache: '5m' | '1h' }[] = [];
    for (const { text, cache } of blocks) {
      hash = createHash('sha256').update(hash).update('\0').update(text).digest('base64');
      total += tokensOf(text).length + TOKENS_PER_BLOCK;
      if (this.refresh(hash, nowMs)) read = total;
      else if (cache !== undefined) marked.push({ hash, tokens: total, cache });
    }
    const written = { '5m': 0, '1h': 0 };
    let from = read;
    for (const { hash: key, tokens, cache } of marked.filter(({ tokens }) => tokens > read)) {
      written[cache] += tokens - from;
      from = tokens;
      this.keep(key, { lifeMs: LIFE_MS[cache], expiresMs: nowMs + LIFE_MS[cache] });
    }
    return { plain: total - from, read, writtenFor5m: written['5m'], writtenFor1h: written['1h'] };
  }

  private refresh(hash: string, nowMs: number): boolean {
    const entry = this.entries.get(hash);
    if (entry === undefined || entry.expiresMs <= nowMs) return false;
    entry.expiresMs = nowMs + entry.lifeMs;
    return true;
  }

  private keep(hash: string, entry: Entry): void {
    this.entries.delete(hash);
    this.entries.set(hash, entry);
    const [oldest] = this.entries.keys();
    if (this.entries.size > MAX_ENTRIES && oldest !== undefined) this.entries.delete(oldest);
  }
}
