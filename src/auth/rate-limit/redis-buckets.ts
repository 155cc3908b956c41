import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { redisServersOf } from '../../common/redis-urls.js';
import type { Clock } from '../../common/time/clock.js';
import { MemoryBuckets } from './memory-buckets.js';
import { type TokenBuckets, type TokenOutcome, WINDOW_MS } from './token-bucket.js';

/** What a call waits for Redis at most. After that no call waits until a probe was answered. */
export const PATIENCE_MS = 50;
const PROBE_MS = 500;
/** A connection without an answer is opened anew, perhaps to another server. */
const SILENCE_MS = 2_000;
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

/** Is called when limits are no longer shared, once per outage, when they are again, and for each decision that is not. */
export interface RedisListener {
  lost(error: NodeJS.ErrnoException): void;
  found(): void;
  fellBack?(): void;
}

type Client = (Redis | Cluster) & TakeCommand;

const keepName: NonNullable<ClusterOptions['dnsLookup']> = (host, done) => {
  done(null, host);
};

/** Connects to what the URL names. */
function connect(url: string, onError: (error: Error) => void): Client {
  const { kind, hosts, service, isTls, database: db, ...terms } = redisServersOf(url);
  const { username, password, sentinelPassword } = terms;
  const retryStrategy = (attempt: number): number => Math.min(attempt * 100, RECONNECT_MAX_MS);
  const options: RedisOptions = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(isTls && { tls: {} }),
    socketTimeout: SILENCE_MS,
    connectTimeout: SILENCE_MS,
    maxRetriesPerRequest: 0,
    // A primary that has become a replica takes no writes: the connection looks for the new one.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  };
  const common = { ...options, db, enableOfflineQueue: false, retryStrategy };
  const ofSentinels = {
    sentinels: [...hosts],
    name: service,
    ...(isTls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    sentinelRetryStrategy: retryStrategy,
  };
  const client =
    kind === 'cluster'
      ? new Cluster([...hosts], {
          redisOptions: options,
          enableOfflineQueue: false,
          clusterRetryStrategy: retryStrategy,
          slotsRefreshTimeout: SILENCE_MS,
          // A certificate names the host, so the address is not looked up before.
          ...(isTls && { dnsLookup: keepName }),
        }).on('error', onError)
      : new Redis({ ...common, ...(kind === 'sentinel' ? ofSentinels : hosts[0]) }).on(
          'error',
          onError,
        );
  client.defineCommand('takeToken', { numberOfKeys: 1, lua: TAKE });
  return client as Client;
}

/**
 * Buckets that replicas share through Redis. While Redis does not respond, each process limits by itself, because a
 * rate limit must not stop paid traffic: one call waits 50 ms, then none until a probe was answered.
 */
export class RedisBuckets implements TokenBuckets {
  private readonly redis: Client;
  private readonly local: MemoryBuckets;
  private readonly timer: NodeJS.Timeout;
  private isLost = false;
  private isProbing = false;
  private isClosed = false;
  /** The bucket of the command that failed: a node of a cluster refuses some buckets only. */
  private lostBucket = 'probe';

  constructor(
    url: string,
    clock: Clock,
    private readonly listener: RedisListener,
    private readonly patienceMs = PATIENCE_MS,
  ) {
    this.local = new MemoryBuckets(clock);
    this.redis = connect(url, (error) => {
      this.lose(error);
    });
    this.redis.on('ready', () => {
      void this.connectAll();
      void this.probe();
    });
    this.timer = setInterval(() => void this.probe(), PROBE_MS).unref();
  }

  /** Whether the limits are shared now. */
  get isUp(): boolean {
    return this.redis.status === 'ready' && !this.isLost;
  }

  async take(bucket: string, perMinute: number, count = 1): Promise<TokenOutcome> {
    if (!this.isLost) {
      try {
        const reply = await this.ask(bucket, perMinute, count);
        const [allowed, remaining, resetMicros, retryMicros] = reply;
        return {
          allowed: allowed === 1,
          remaining,
          resetMs: resetMicros / 1000,
          retryAfterMs: retryMicros / 1000,
        };
      } catch (error) {
        this.lose(error as Error, bucket);
      }
    }
    this.listener.fellBack?.();
    return this.local.take(bucket, perMinute, count);
  }

  /** Resolves when Redis responds. */
  async ready(): Promise<void> {
    if (this.redis.status !== 'ready') {
      await new Promise<void>((resolve) => this.redis.once('ready', resolve));
    }
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    this.redis.disconnect();
  }

  /** A client of a cluster connects to each node with the first command for it, which would cost a call its patience. */
  private async connectAll(): Promise<void> {
    if (!(this.redis instanceof Cluster)) return;
    await Promise.allSettled(this.redis.nodes('master').map((node) => node.ping()));
  }

  private lose(error: NodeJS.ErrnoException, bucket = this.lostBucket): void {
    if (this.isLost || this.isClosed) return;
    this.isLost = true;
    this.lostBucket = bucket;
    this.listener.lost(error);
  }

  /** One command at a time asks whether limits can be shared again. It takes no token. */
  private async probe(): Promise<void> {
    if (!this.isLost || this.isProbing || this.redis.status !== 'ready') return;
    this.isProbing = true;
    try {
      await this.ask(this.lostBucket, 1, 0);
      this.isLost = false;
      this.listener.found();
    } catch {
      // The next probe asks again.
    } finally {
      this.isProbing = false;
    }
  }

  /** Rejects when its patience is over; what comes later is not waited for. */
  private async ask(bucket: string, perMinute: number, count: number) {
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        // An answer that came while this process was busy is read before this.
        setImmediate(reject, new Error(`no answer within ${this.patienceMs} ms`));
      }, this.patienceMs);
    });
    try {
      const reply = this.redis.takeToken(KEY_PREFIX + bucket, perMinute, count);
      return await Promise.race([reply, silence]);
    } finally {
      clearTimeout(timer);
    }
  }
}
