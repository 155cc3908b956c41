import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { entriesLimit } from '../common/entries-limit.js';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { PreparedStatement } from '../platform/database/prepared-statement.js';
import type { Caller } from './caller.js';
import { callerOf, type CallerRow, FIND_CALLER } from './caller-row.js';
import { KeyChangePoller } from './key-change-poller.js';
import { cellOf, hashKey, looksLikeKey } from './api-key-format.js';

const CACHE_LIMIT = 50_000;
/** Time for which a key is cached while polls for changes succeed. */
const POLLED_TTL_MS = 600_000;
/** Time for which a key is cached while they fail: half of the 2 s in which a revocation takes effect (AUTH-04). */
const UNPOLLED_TTL_MS = 1_000;

const UNKNOWN_LIMIT = 10_000;
const UNKNOWN_MS = 1_000;
/** Other cells that the log names, each once in {@link TOLD_CELL_MS}. */
const TOLD_CELLS = 100;
const TOLD_CELL_MS = 60_000;

interface KnownKey {
  readonly caller: Caller;
  readonly loadedAtMs: number;
}

/**
 * Finds the caller of a key. Known keys are remembered until {@link KeyChangePoller} reports a change. Concurrent look-ups
 * of one key share one query.
 */
@Injectable()
export class KeyCache {
  private readonly statement: PreparedStatement<CallerRow>;
  /** By the text of the key, because hashing it costs more than the rest of a look-up. */
  private readonly known: LRUCache<string, KnownKey>;
  /** Account by key, possibly stale; used for load shedding only. */
  private readonly live = new LRUCache<string, string>(entriesLimit(CACHE_LIMIT));
  /**
   * Keys that the database has just reported as not live. A client that repeats one of them causes one query per
   * second.
   */
  private readonly unknown = new LRUCache<string, true>({
    ...entriesLimit(UNKNOWN_LIMIT),
    ttl: UNKNOWN_MS,
  });
  private readonly toldCells = new LRUCache<string, true>({ max: TOLD_CELLS, ttl: TOLD_CELL_MS });
  private readonly textById = new Map<string, string>();
  private readonly pending = new Map<string, Promise<Caller | undefined>>();

  constructor(
    dataSource: DataSource,
    private readonly clock: Clock,
    private readonly changes: KeyChangePoller,
    @Optional() @Inject(GATEWAY_CONFIG) private readonly config?: Pick<GatewayConfig, 'cell'>,
  ) {
    this.statement = new PreparedStatement(dataSource, 'api_key_find', FIND_CALLER);
    this.known = new LRUCache({
      ...entriesLimit(CACHE_LIMIT),
      dispose: ({ caller }) => {
        caller.isStale = true;
        this.textById.delete(caller.apiKeyId);
      },
    });
    changes.listen((changed) => {
      this.forget(changed);
    });
  }

  /** The account of a key that was live when it was last looked up; undefined for every other. Needs no database. */
  accountOf(key: string): string | undefined {
    return this.live.get(key);
  }

  /** The caller of a live key; undefined for an unknown, revoked or expired one. */
  async find(key: string): Promise<Caller | undefined> {
    const caller = this.cached(key) ?? (await this.lookUp(key));
    if (caller === undefined) return undefined;
    const expired = caller.expiresAtMs !== null && caller.expiresAtMs <= this.clock.nowMs();
    return expired ? undefined : caller;
  }

  private cached(key: string): Caller | undefined {
    const known = this.known.get(key);
    if (known === undefined) return undefined;
    const ageMs = this.clock.nowMs() - known.loadedAtMs;
    return ageMs < (this.changes.isFresh ? POLLED_TTL_MS : UNPOLLED_TTL_MS)
      ? known.caller
      : undefined;
  }

  private lookUp(key: string): Promise<Caller | undefined> {
    if (!looksLikeKey(key) || this.unknown.has(key)) return Promise.resolve(undefined);
    const cell = cellOf(key);
    if (cell !== undefined && cell !== this.config?.cell) {
      this.tellCell(cell);
      return Promise.resolve(undefined);
    }
    const pending = this.pending.get(key);
    if (pending !== undefined) return pending;
    const lookup = this.load(key).finally(() => this.pending.delete(key));
    this.pending.set(key, lookup);
    return lookup;
  }

  /** A key of another cell was sent here: the edge routes wrongly (decision G-113). */
  private tellCell(cell: string): void {
    this.toldCells.purgeStale();
    if (this.toldCells.has(cell) || this.toldCells.size >= TOLD_CELLS) return;
    this.toldCells.set(cell, true);
    new Logger('Auth').warn(`a key of cell ${cell} was sent here`);
  }

  private async load(key: string): Promise<Caller | undefined> {
    const loadedAtMs = this.clock.nowMs();
    const [row] = await this.statement.run([hashKey(key)]);
    this.known.delete(key);
    if (row === undefined) {
      this.live.delete(key);
      this.unknown.set(key, true);
      return undefined;
    }
    const caller = callerOf(row);
    this.known.set(key, { caller, loadedAtMs });
    this.live.set(key, caller.accountId);
    this.textById.set(caller.apiKeyId, key);
    return caller;
  }

  private forget(changed: readonly string[] | 'all'): void {
    if (changed === 'all') this.known.clear();
    else {
      for (const id of changed) {
        const key = this.textById.get(id);
        if (key !== undefined) this.known.delete(key);
      }
    }
  }
}
