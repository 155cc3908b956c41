import type { JsonObject } from '../../common/json-object.js';
import { isJsonObject } from '../../common/json-object.js';
import { listAt } from './json-fields.js';

type Headers = Readonly<Record<string, unknown>>;

/**
 * Pairs of rate-limit headers: the remaining number and the time of the reset. The reset is read if the remaining
 * number is zero.
 */
const LIMITS: readonly (readonly [remaining: string, reset: string])[] = [
  ['x-ratelimit-remaining', 'x-ratelimit-reset'],
  ...['requests', 'tokens'].map(
    (what) => [`x-ratelimit-remaining-${what}`, `x-ratelimit-reset-${what}`] as const,
  ),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens']
    .map((what) => `anthropic-ratelimit-${what}`)
    .map((limit) => [`${limit}-remaining`, `${limit}-reset`] as const),
];
const DURATION = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/;
/** A bare number above this is a time, in seconds, and above the other one in milliseconds. */
const EPOCH_SECONDS = 1_000_000_000;
const EPOCH_MS = 1_000_000_000_000;

/**
 * The wait that a vendor asks for, in whole seconds, rounded up. Of its headers `retry-after-ms`, `retry-after` (seconds
 * or a date) and the reset of a limit that is used up; undefined where there is none.
 * @param nowMs the present, milliseconds since the epoch
 */
export function waitInHeaders(headers: Headers, nowMs: number): number | undefined {
  const ms = positive(headers['retry-after-ms']);
  if (ms !== undefined) return Math.ceil(ms / 1000);
  const named = secondsOf(headers['retry-after'], nowMs);
  if (named !== undefined) return named;
  const waits = LIMITS.filter(([remaining]) => Number(headers[remaining] ?? NaN) === 0)
    .map(([, reset]) => secondsOf(headers[reset], nowMs))
    .filter((wait) => wait !== undefined);
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

/** The wait in the objects of an error's body: `retry_after`, `estimated_time`, Google's `RetryInfo`, quoted headers. */
export function waitInBody(layers: readonly JsonObject[], nowMs: number): number | undefined {
  for (const layer of layers) {
    const ms = positive(layer.retry_after_ms);
    if (ms !== undefined) return Math.ceil(ms / 1000);
    const delays = (listAt(layer, 'details') ?? []).map(({ retryDelay }) => retryDelay);
    for (const value of [layer.retry_after, layer.estimated_time, ...delays]) {
      const wait = secondsOf(typeof value === 'number' ? String(value) : value, nowMs);
      if (wait !== undefined) return wait;
    }
    const quoted = isJsonObject(layer.metadata) ? layer.metadata.headers : undefined;
    const wait = isJsonObject(quoted) ? waitInHeaders(lowered(quoted), nowMs) : undefined;
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/** Seconds, a duration such as `6m0s`, a time since the epoch or a date, as whole seconds from now. */
function secondsOf(value: unknown, nowMs: number): number | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const text = value.trim();
  const seconds = /^\d+(\.\d+)?$/.test(text)
    ? fromNow(Number(text), nowMs)
    : (durationOf(text) ?? (Date.parse(text) - nowMs) / 1000);
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined;
}

function fromNow(number: number, nowMs: number): number {
  if (number >= EPOCH_MS) return (number - nowMs) / 1000;
  return number >= EPOCH_SECONDS ? number - nowMs / 1000 : number;
}

function durationOf(text: string): number | undefined {
  const [all, hours, minutes, seconds, ms] = DURATION.exec(text) ?? [];
  if (!all) return undefined;
  const parts = [Number(hours ?? 0) * 3600, Number(minutes ?? 0) * 60, Number(seconds ?? 0)];
  return parts.reduce((sum, part) => sum + part, Number(ms ?? 0) / 1000);
}

function positive(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}

function lowered(headers: JsonObject): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
