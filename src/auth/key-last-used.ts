import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { entriesLimit } from '../common/entries-limit.js';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';

/** One process writes the use of a key at most once in this time. */
const WRITE_INTERVAL_MS = 60_000;
/** Uses are collected for this time and written in one statement. */
const COLLECT_MS = 500;
const MAX_KEYS = 50_000;

const WRITE = `
  INSERT INTO api_key_use AS known (api_key_id, last_used_at)
    SELECT id, to_timestamp(ms / 1000.0) FROM unnest($1::uuid[], $2::float8[]) used (id, ms) ORDER BY id
  ON CONFLICT (api_key_id) DO UPDATE SET last_used_at = excluded.last_used_at
    WHERE known.last_used_at < excluded.last_used_at`;

/**
 * Writes when keys were last used, to the minute. No request waits for it. While the database cannot be reached, uses
 * are not written. Each process writes its own uses, so the timer runs in every role.
 */
@Injectable()
export class KeyLastUsed implements BeforeApplicationShutdown {
  private readonly written = new LRUCache<string, true>({
    ...entriesLimit(MAX_KEYS),
    ttl: WRITE_INTERVAL_MS,
  });
  private readonly unwritten = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /** Notes that the key was used now. */
  note(apiKeyId: string): void {
    if (this.written.has(apiKeyId)) return;
    this.written.set(apiKeyId, true);
    this.unwritten.set(apiKeyId, this.clock.nowMs());
    this.timer ??= setTimeout(() => void this.write(), COLLECT_MS).unref();
  }

  /** Writes the noted uses. Never throws. */
  async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.unwritten.size === 0) return;
    const [ids, times] = [[...this.unwritten.keys()], [...this.unwritten.values()]];
    this.unwritten.clear();
    try {
      await this.dataSource.query(WRITE, [ids, times]);
    } catch {
      for (const id of ids) this.written.delete(id);
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.write();
  }
}
