import cluster from 'node:cluster';
import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Logger } from 'pino';
import { redactText } from '../common/secrets/redact-text.js';
import { Clock } from '../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { LOGGER } from '../platform/observability/logger.js';
import { Metrics } from '../platform/observability/metrics.js';
import { ApiKey } from './api-key.entity.js';
import { OperatorActions } from './acts/operator-actions.js';
import { ApiKeysService } from './api-keys.service.js';
import { MadeKeys } from './made-keys.js';
import { BearerGuard } from './bearer.guard.js';
import { KeyCache } from './key-cache.js';
import { KeyChangePoller } from './key-change-poller.js';
import { UnknownKeyLimiter } from './unknown-key-limiter.js';
import { OpenReads } from './open-reads.js';
import { KeyLastUsed } from './key-last-used.js';
import { MemoryBuckets } from './rate-limit/memory-buckets.js';
import { ClusterBuckets } from './rate-limit/cluster-buckets.js';
import { ScopeGuard } from './scope.guard.js';
import { OperatorToken } from './operators/operator-token.js';
import { ConsoleSessions } from './sessions/console-sessions.js';
import { PortalLinks } from './sessions/portal-links.js';
import { SessionCallers } from './sessions/session-callers.js';
import { SessionSweeper } from './sessions/session-sweeper.js';
import { RateLimitGuard, TOKEN_BUCKETS } from './rate-limit/rate-limit.guard.js';
import type { TokenBuckets } from './rate-limit/token-bucket.js';

async function makeBuckets(
  config: GatewayConfig,
  clock: Clock,
  logger: Logger,
  metrics: Metrics,
): Promise<TokenBuckets> {
  if (config.redisUrl !== undefined) {
    // Only replicas load the client of Redis.
    const { RedisBuckets } = await import('./rate-limit/redis-buckets.js');
    const buckets = new RedisBuckets(config.redisUrl, clock, {
      lost: ({ message, code }) => {
        // A failed connection to a host name with several addresses has a code and no message.
        const reason = message === '' ? code : redactText(message);
        const hint = message.startsWith('MOVED')
          ? 'Redis is a node of a cluster: rate limits are per process until REDIS_URL is redis+cluster://…'
          : 'Redis is not reachable: rate limits are per process';
        logger.warn({ reason }, hint);
      },
      found: () => {
        logger.info('Redis is reachable again: rate limits are shared');
      },
      fellBack: () => {
        metrics.redisFallbacks.inc();
      },
    });
    metrics.watch(
      'gateway_redis_up',
      '1 while rate limits are shared through Redis; absent without REDIS_URL',
      () => Number(buckets.isUp),
      'min',
    );
    return buckets;
  }
  return cluster.isWorker ? new ClusterBuckets(clock) : new MemoryBuckets(clock);
}

/** API keys and rate limits. */
@Module({
  imports: [TypeOrmModule.forFeature([ApiKey])],
  providers: [
    KeyChangePoller,
    KeyCache,
    KeyLastUsed,
    UnknownKeyLimiter,
    ApiKeysService,
    MadeKeys,
    OperatorActions,
    BearerGuard,
    RateLimitGuard,
    ScopeGuard,
    OperatorToken,
    ConsoleSessions,
    SessionCallers,
    PortalLinks,
    SessionSweeper,
    OpenReads,
    {
      provide: TOKEN_BUCKETS,
      useFactory: makeBuckets,
      inject: [GATEWAY_CONFIG, Clock, LOGGER, Metrics],
    },
  ],
  exports: [
    KeyCache,
    KeyLastUsed,
    UnknownKeyLimiter,
    ApiKeysService,
    MadeKeys,
    OperatorActions,
    BearerGuard,
    RateLimitGuard,
    ScopeGuard,
    OperatorToken,
    ConsoleSessions,
    SessionCallers,
    PortalLinks,
    OpenReads,
    TOKEN_BUCKETS,
  ],
})
export class AuthModule implements OnApplicationShutdown {
  constructor(@Inject(TOKEN_BUCKETS) private readonly buckets: TokenBuckets) {}

  onApplicationShutdown(): void {
    this.buckets.close?.();
  }
}
