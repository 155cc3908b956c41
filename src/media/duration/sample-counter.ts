import { samplesToMicros } from '../../common/time/billable-seconds.js';
import { unsupportedMedia } from './unsupported-media.error.js';

const MIN_RATE_HZ = 1_000;
const MAX_RATE_HZ = 384_000;

/** `samples` at `rateHz` in integer microseconds, rounded up; throws `unsupported_audio_format` for a rate outside 1 to 384 kHz. */
export function durationMicros(samples: number, rateHz: number): bigint {
  if (!Number.isInteger(rateHz) || rateHz < MIN_RATE_HZ || rateHz > MAX_RATE_HZ) {
    throw unsupportedMedia('the sample rate is out of range');
  }
  return samplesToMicros(BigInt(samples), BigInt(rateHz));
}

/** Samples counted per sample rate, because joined files may have several rates. */
export class SampleCounter {
  private readonly samplesByRate = new Map<number, number>();

  add(samples: number, rateHz: number): void {
    this.samplesByRate.set(rateHz, (this.samplesByRate.get(rateHz) ?? 0) + samples);
  }

  get rates(): number {
    return this.samplesByRate.size;
  }

  /** The sum over all rates in integer microseconds. */
  micros(): bigint {
    let sum = 0n;
    for (const [rateHz, samples] of this.samplesByRate) sum += durationMicros(samples, rateHz);
    return sum;
  }
}
