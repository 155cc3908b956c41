import assert from 'node:assert/strict';

const ALLOWANCE_MICROS = 100_000n;
const SECOND_MICROS = 1_000_000n;

/**
 * Seconds that are billed for measured media: rounded up to whole seconds after a 0.1-second allowance, at least 1
 * (API: Media-length billing; decision G-18). Takes integer microseconds, so that no double is rounded.
 */
export function billableSeconds(durationMicros: bigint): bigint {
  assert(durationMicros > 0n, 'media duration must be above 0');
  const chargeable = durationMicros - ALLOWANCE_MICROS;
  if (chargeable <= SECOND_MICROS) return 1n;
  return (chargeable + SECOND_MICROS - 1n) / SECOND_MICROS;
}

/** A number of seconds in whole microseconds, rounded, at least 1. */
export function microsOfSeconds(seconds: number): bigint {
  return BigInt(Math.max(1, Math.round(seconds * Number(SECOND_MICROS))));
}

/**
 * Duration of `samples` at `sampleRateHz` in integer microseconds, rounded up, so that a duration just above a boundary
 * stays above it (AUD-41: 533,611 samples at 44.1 kHz bill 13 s).
 */
export function samplesToMicros(samples: bigint, sampleRateHz: bigint): bigint {
  assert(
    samples >= 0n && sampleRateHz > 0n,
    'samples must not be negative, and the rate must be above 0',
  );
  return (samples * SECOND_MICROS + sampleRateHz - 1n) / sampleRateHz;
}
