import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { entriesLimit } from '../common/entries-limit.js';
import type { Logger } from 'pino';
import { toPublicId } from '../common/ids/public-id.js';
import { formatMicroUsd, type MicroUsd } from '../common/money/micro-usd.js';
import { Clock } from '../common/time/clock.js';
import { HOUR_MS } from '../common/time/spans.js';
import { LOGGER } from '../platform/observability/logger.js';
import { Metrics } from '../platform/observability/metrics.js';
import type { TriedRoute } from '../providers/ports/attempt.js';

/** With fewer streams in an hour the share of broken ones says nothing. */
const MIN_STREAMS = 20;
/** A warning is logged when more than one of this many streams (5 %) broke. */
const ONE_OF = 20;
/** Accounts whose streams are counted at the same time. */
const MAX_ACCOUNTS = 10_000;

/** Counts of one account's streams within an hour. The hour begins with the first stream. */
interface AccountHour {
  readonly beganAtMs: number;
  streams: number;
  broken: number;
  isNamed: boolean;
  /** By provider and the model's name there. */
  readonly byRoute: Map<string, { broken: number; uncharged: MicroUsd }>;
}

/**
 * Counts streams that broke before their end and are free (decision G-103): by route in a metric, by account and route
 * for the log. An account with at least 20 streams in an hour of which more than 5 % broke is logged once an hour,
 * because somebody who can break streams on purpose gets responses for nothing. Each process counts its own streams.
 */
@Injectable()
export class BrokenStreams {
  private readonly hours = new LRUCache<string, AccountHour>(entriesLimit(MAX_ACCOUNTS));

  constructor(
    private readonly metrics: Metrics,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly clock: Clock,
  ) {}

  /** A stream of the account was completed, or its client disconnected. */
  ended(accountId: string): void {
    const hour = this.hourOf(accountId);
    hour.streams += 1;
    this.logIfMany(accountId, hour);
  }

  /** A stream of the account broke. `uncharged` is what the generated text would have cost. */
  broke(accountId: string, { provider, upstreamModel }: TriedRoute, uncharged: MicroUsd): void {
    this.metrics.brokenStreams.inc({ provider, upstream_model: upstreamModel });
    const hour = this.hourOf(accountId);
    hour.streams += 1;
    hour.broken += 1;
    const route = `${provider} ${upstreamModel}`;
    const sum = hour.byRoute.get(route) ?? { broken: 0, uncharged: 0n };
    hour.byRoute.set(route, { broken: sum.broken + 1, uncharged: sum.uncharged + uncharged });
    this.logIfMany(accountId, hour);
  }

  private hourOf(accountId: string): AccountHour {
    const nowMs = this.clock.nowMs();
    const known = this.hours.get(accountId);
    if (known && nowMs - known.beganAtMs < HOUR_MS) return known;
    const hour = { beganAtMs: nowMs, streams: 0, broken: 0, isNamed: false, byRoute: new Map() };
    this.hours.set(accountId, hour);
    return hour;
  }

  private logIfMany(accountId: string, hour: AccountHour): void {
    if (hour.isNamed || hour.streams < MIN_STREAMS || hour.broken * ONE_OF <= hour.streams) return;
    hour.isNamed = true;
    const routes = [...hour.byRoute].map(([route, { broken, uncharged }]) => ({
      route,
      broken,
      uncharged_microusd: formatMicroUsd(uncharged),
    }));
    this.logger.warn(
      {
        account: toPublicId('acct', accountId),
        streams: hour.streams,
        broken: hour.broken,
        routes,
      },
      'many streams of one account broke',
    );
  }
}
