import { Redis } from 'ioredis';
import type { Clock } from '../../common/time/clock.js';
import { MemoryBuckets } from './memory-buckets.js';
import { type TokenBuckets, type TokenOutcome, WINDOW_MS } from './token-bucket.js';

const COMMAND_TIMEOUT_MS = 250;
const RECONNECT_MAX_MS = 2_000;
const KEY_PREFIX = 'shim:bucket:';

/** The token bucket of token-bucket.ts as a Redis script, by the clock of Redis. Times are whole microseconds. */
const TAKE = `
local interval = math.max(1, math.floor(60000000 / tonumber(ARGV[1])))
local window = interval * tonumber(ARGV[1])
local taken = interval * tonumber(ARGV[2])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local base = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local wait = base + taken - window - now
if wait > 0 then
  return {0, math.max(0, math.floor((now + window - base) / interval)), base - now, wait}
end
local full = base + taken
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', ${WINDOW_MS})
return {1, math.floor((now + window - full) / interval), full - now, 0}`;

interface TakeCommand {
  takeToken(
    key: string,
    perMinute: number,
    count: number,
  ): Promise<[number, number, number, number]>;
}

/** Is called when the connection to Redis is lost, once per outage, and when it returns. */
export interface RedisListener {
  lost(error: NodeJS.ErrnoException): void;
  found(): void;
}

/**
 * Buckets that replicas share through Redis. While Redis does not respond, each process limits by itself, because a
 * rate limit must not stop paid traffic.
 */
export class RedisBuckets implements TokenBuckets {
  private readonly redis: Redis & TakeCommand;
  private readonly local: MemoryBuckets;
  private isLost = false;
  /** The last command had no answer in time. */
  private isSilent = false;

  constructor(url: string, clock: Clock, listener: RedisListener) {
    this.local = new MemoryBuckets(clock);
    const redis = new Redis(url, {
      commandTimeout: COMMAND_TIMEOUT_MS,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(attempt * 100, RECONNECT_MAX_MS),
    });
    redis.on('error', (error) => {
      if (!this.isLost) listener.lost(error);
      this.isLost = true;
    });
    redis.on('ready', () => {
      if (this.isLost) listener.found();
      this.isLost = false;
    });
    redis.defineCommand('takeToken', { numberOfKeys: 1, lua: TAKE });
    this.redis = redis as Redis & TakeCommand;
  }

  /** Whether the limits are shared now. */
  get isUp(): boolean {
    return this.redis.status === 'ready' && !this.isSilent;
  }

  async take(bucket: string, perMinute: number, count = 1): Promise<TokenOutcome> {
    try {
      const reply = await this.redis.takeToken(KEY_PREFIX + bucket, perMinute, count);
      const [allowed, remaining, resetMicros, retryMicros] = reply;
      this.isSilent = false;
      return {
        allowed: allowed === 1,
        remaining,
        resetMs: resetMicros / 1000,
        retryAfterMs: retryMicros / 1000,
      };
    } catch {
      this.isSilent = true;
      return this.local.take(bucket, perMinute, count);
    }
  }

  /** Resolves when Redis responds. */
  async ready(): Promise<void> {
    if (this.redis.status !== 'ready') {
      await new Promise<void>((resolve) => this.redis.once('ready', resolve));
    }
  }

  close(): void {
    this.redis.disconnect();
  }
}
