import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import type { PausedRoute } from './paused-routes.js';
import { ProviderRegistry } from './provider-registry.js';

/** Every process knows a pause, and its end, after this time. */
const POLL_INTERVAL_MS = 1_000;
/** What has ended this long ago is deleted by the next pause. */
const FORGET_AFTER = "interval '1 day'";

const PAUSES = `
  SELECT provider, nullif(upstream_model, '') AS "upstreamModel", until, reason, actor, paused_at AS "pausedAt"
    FROM route_pause WHERE until > now() ORDER BY provider, upstream_model`;
const PAUSE = `
  WITH past AS (DELETE FROM route_pause WHERE until < now() - ${FORGET_AFTER})
  INSERT INTO route_pause (provider, upstream_model, until, reason, actor) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (provider, upstream_model) DO UPDATE
    SET until = excluded.until, reason = excluded.reason, actor = excluded.actor, paused_at = now()`;

/** A pause with who made it, and why. */
export interface RoutePause extends PausedRoute {
  readonly reason: string;
  readonly actor: string;
  readonly pausedAt: Date;
}

/** The provider, or one model of it. */
export type PausableRoute = Pick<PausedRoute, 'provider' | 'upstreamModel'>;

/**
 * The pauses of routes. They are kept in the database, and each process reads them at its start and each second, so that a pause holds
 * everywhere within seconds and after a restart. While the database cannot be reached, the last known ones hold.
 */
@Injectable()
export class RoutePauseStore implements OnApplicationBootstrap {
  constructor(
    private readonly dataSource: DataSource,
    private readonly registry: ProviderRegistry,
    private readonly scheduler: Scheduler,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.list().catch(() => undefined);
    this.scheduler.start({
      name: 'route-pauses',
      intervalMs: POLL_INTERVAL_MS,
      servesOwnCalls: true,
      // Calls report the outage.
      tick: () => this.list().catch(() => undefined),
    });
  }

  /** All that hold now; this process knows them then. */
  async list(): Promise<RoutePause[]> {
    const pauses = await this.dataSource.query<RoutePause[]>(PAUSES);
    this.registry.paused.replace(pauses);
    return pauses;
  }

  /** Pauses the route, or changes its pause. */
  async pause({ provider, upstreamModel, until, reason, actor }: Omit<RoutePause, 'pausedAt'>) {
    await this.dataSource.query(PAUSE, [provider, upstreamModel ?? '', until, reason, actor]);
    await this.list();
  }

  /** Ends the pause, if there is one. */
  async resume({ provider, upstreamModel }: PausableRoute): Promise<void> {
    await this.dataSource.query(
      'DELETE FROM route_pause WHERE provider = $1 AND upstream_model = $2',
      [provider, upstreamModel ?? ''],
    );
    await this.list();
  }
}
