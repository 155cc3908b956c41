import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/time/clock.js';
import type { AttemptOutcome, Route } from '../ports/attempt.js';
import type { BreakerState } from './circuit-breaker.js';

/** Figures are of this time. */
export const FIGURES_WINDOW_MS = 3_600_000;
const SLOTS = 12;
const SLOT_MS = FIGURES_WINDOW_MS / SLOTS;
/** Most routes of a process with figures; the catalog has fewer. */
const MAX_ROUTES = 2_000;
/** Durations in one bucket differ by less than this factor. */
const BUCKET_GROWTH = 1.2;

/** An attempt as the figures count it. */
export interface CountedAttempt {
  readonly route: Pick<Route, 'provider' | 'upstreamModel'>;
  readonly operation: string;
  readonly outcome: AttemptOutcome;
  readonly durationMs: number;
}

/** Counts by outcome, and by bucket of the duration. */
export interface AttemptCounts {
  readonly outcomes: Readonly<Partial<Record<AttemptOutcome, number>>>;
  readonly buckets: Readonly<Record<string, number>>;
}

/** What was seen of a route. */
export interface RouteFigure extends AttemptCounts {
  readonly provider: string;
  readonly upstreamModel: string;
  readonly operation: string;
}

/** The circuit breaker of an operation of a provider. */
export interface BreakerFigure {
  readonly provider: string;
  readonly operation: string;
  readonly state: BreakerState;
}

interface Slot {
  readonly at: number;
  readonly outcomes: Partial<Record<AttemptOutcome, number>>;
  readonly buckets: Record<string, number>;
}

interface Counted extends Omit<RouteFigure, 'outcomes' | 'buckets'> {
  slots: Slot[];
}

/** What this process saw of each route within the last hour, in slots of five minutes. */
@Injectable()
export class RouteFigures {
  private readonly counted = new Map<string, Counted>();
  private readonly states = new Map<string, BreakerFigure>();

  constructor(private readonly clock: Clock) {}

  /** Counts a finished attempt. */
  count({ route, operation, outcome, durationMs }: CountedAttempt): void {
    const { provider, upstreamModel } = route;
    const key = `${provider} ${operation} ${upstreamModel}`;
    let counted = this.counted.get(key);
    if (counted === undefined) {
      if (this.counted.size >= MAX_ROUTES) return;
      counted = { provider, upstreamModel, operation, slots: [] };
      this.counted.set(key, counted);
    }
    const at = this.slot;
    let slot = counted.slots.at(-1);
    if (slot?.at !== at) {
      slot = { at, outcomes: {}, buckets: {} };
      counted.slots = [...counted.slots.filter((each) => this.isRecent(each)), slot];
    }
    const bucket = bucketOf(durationMs);
    slot.outcomes[outcome] = (slot.outcomes[outcome] ?? 0) + 1;
    slot.buckets[bucket] = (slot.buckets[bucket] ?? 0) + 1;
  }

  /** Notes the state of a circuit breaker. */
  breaker(figure: BreakerFigure): void {
    this.states.set(`${figure.provider} ${figure.operation}`, figure);
  }

  /** The routes with attempts in the window. */
  routes(): RouteFigure[] {
    return [...this.counted.values()].flatMap(({ slots, ...route }) => {
      const recent = slots.filter((slot) => this.isRecent(slot));
      return recent.length === 0 ? [] : [{ ...route, ...summedCounts(recent) }];
    });
  }

  /** The circuit breakers that are not closed. */
  breakers(): BreakerFigure[] {
    return [...this.states.values()].filter(({ state }) => state !== 'closed');
  }

  private get slot(): number {
    return Math.floor(this.clock.nowMs() / SLOT_MS);
  }

  private isRecent({ at }: Slot): boolean {
    return at > this.slot - SLOTS;
  }
}

/** The sum of counts. */
export function summedCounts(all: readonly AttemptCounts[]): AttemptCounts {
  return {
    outcomes: summed(all.map(({ outcomes }) => outcomes)),
    buckets: summed(all.map(({ buckets }) => buckets)),
  };
}

/** The duration in milliseconds that this share of the attempts did not exceed, by at most a tenth wrong; null without an attempt. */
export function quantileOf({ buckets }: AttemptCounts, share: number): number | null {
  const sorted = Object.entries(buckets).sort(([a], [b]) => Number(a) - Number(b));
  const all = sorted.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.max(1, Math.ceil(all * share));
  for (const [bucket, count] of sorted) {
    left -= count;
    if (left <= 0) return Math.round(BUCKET_GROWTH ** (Number(bucket) - 0.5));
  }
  return null;
}

const bucketOf = (durationMs: number): number =>
  Math.max(0, Math.ceil(Math.log(Math.max(1, durationMs)) / Math.log(BUCKET_GROWTH)));

function summed(all: readonly Readonly<Record<string, number | undefined>>[]) {
  const sums: Record<string, number> = {};
  for (const counts of all) {
    for (const [name, count = 0] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}
