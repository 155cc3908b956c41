/** What one benchmark measured, and whether it met its targets. */
export interface BenchResult {
  readonly name: string;
  readonly figures: Readonly<Record<string, number | string>>;
  /** Targets in words. */
  readonly targets: Readonly<Record<string, string>>;
  readonly passed: boolean;
}

/** The median. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The percentile: this share of the values is smaller. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Rounded for a table. */
export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}
