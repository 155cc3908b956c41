import { DAY_S, HOUR_S, UTC_DAY } from './time.js';
import type { UsageRow } from './usage-values.js';

/** Longer than this, a chart has points of days, or of months, where nothing else is chosen. */
const MOST_BY_HOUR_S = 2 * DAY_S;
const MOST_BY_DAY_S = 190 * DAY_S;

/** How long one point of a chart is. */
export type Roll = 'hour' | 'day' | 'month';

/** Times that are chosen at once, and move with the clock. */
export const RANGES = [
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['month', 'This month'],
  ['last-month', 'Last month'],
] as const;
const USUAL_RANGE = '30d';

/** What a screen of usage covers; times are epoch seconds, as the address has them. */
export interface Span {
  /** Absent: the times are the reader's own. */
  readonly range?: string;
  readonly from?: string;
  /** Exclusive; absent: all up to now. */
  readonly to?: string;
  readonly roll: Roll;
}

const floorTo = (step: number, seconds: number): number => Math.floor(seconds / step) * step;

/** The first second of the month, of UTC, that is so many months after that of a time. */
function monthAt(seconds: number, after: number): number {
  const time = new Date(seconds * 1_000);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + after) / 1_000;
}

function timesOf(range: string, now: number): { readonly from: number; readonly to?: number } {
  const today = floorTo(DAY_S, now);
  if (range === '24h') return { from: floorTo(HOUR_S, now) - 23 * HOUR_S };
  if (range === '7d') return { from: today - 6 * DAY_S };
  if (range === 'month') return { from: monthAt(now, 0) };
  if (range === 'last-month') return { from: monthAt(now, -1), to: monthAt(now, 0) };
  return { from: today - 29 * DAY_S };
}

function usualRoll(seconds: number): Roll {
  if (seconds <= MOST_BY_HOUR_S) return 'hour';
  return seconds <= MOST_BY_DAY_S ? 'day' : 'month';
}

const isRoll = (text: string | null): text is Roll =>
  text === 'hour' || text === 'day' || text === 'month';

/** What the parameters of an address cover: `from` and `to`, or a range, and `roll`. */
export function spanOf(params: URLSearchParams, now = Date.now() / 1_000): Span {
  const [from, to] = [params.get('from') ?? '', params.get('to') ?? ''];
  const span =
    from === '' && to === '' ? spanOfRange(params.get('range'), now) : ownSpan(from, to, now);
  const roll = params.get('roll');
  return isRoll(roll) ? { ...span, roll } : span;
}

function spanOfRange(asked: string | null, now: number): Span {
  const range = RANGES.find(([id]) => id === asked)?.[0] ?? USUAL_RANGE;
  const { from, to } = timesOf(range, now);
  return {
    ...{ range, from: String(from) },
    ...(to !== undefined && { to: String(to) }),
    roll: usualRoll((to ?? now) - from),
  };
}

/** A span of the reader's own times; the gateway refuses what is no time. */
function ownSpan(from: string, to: string, now: number): Span {
  const length = (to === '' ? now : Number(to)) - Number(from);
  return {
    ...(from !== '' && { from }),
    ...(to !== '' && { to }),
    roll: from === '' ? 'day' : usualRoll(length),
  };
}

/** Epoch seconds of a day or a time as the API writes it. */
export const secondsOfText = (text: string): number => Date.parse(text) / 1_000;

/** The first second of the point of time that a row lies in. */
export function timeOfRow({ hour, day }: UsageRow, roll: Roll): number {
  const seconds = secondsOfText(hour ?? day ?? '');
  return roll === 'month' ? monthAt(seconds, 0) : seconds;
}

/** When the point of time ends that begins at a time. */
export function endOfPoint(time: number, roll: Roll): number {
  return roll === 'month' ? monthAt(time, 1) : time + (roll === 'day' ? DAY_S : HOUR_S);
}

/** All points of time from a time until before another one, none of them later than now. */
export function pointsBetween(from: number, to: number, roll: Roll): number[] {
  const end = Math.min(to, Date.now() / 1_000);
  const points: number[] = [];
  const first = roll === 'month' ? monthAt(from, 0) : from;
  for (let point = first; point < end; point = endOfPoint(point, roll)) points.push(point);
  return points;
}

const UTC_MONTH = new Intl.DateTimeFormat('en-GB', {
  ...{ month: 'long', year: 'numeric', timeZone: 'UTC' },
});

/** A day or a month of UTC in words. */
export const pointInWords = (time: number, roll: 'day' | 'month'): string =>
  (roll === 'day' ? UTC_DAY : UTC_MONTH).format(time * 1_000);
