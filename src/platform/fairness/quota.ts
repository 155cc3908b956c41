import { GatewayError } from '../../common/errors/gateway-error.js';
import { BucketCounts } from './bucket-counts.js';

const RETRY_AFTER_SECONDS = 1;
const TRY_AGAIN = `Try again in ${RETRY_AFTER_SECONDS} s.`;

/** The limits of a quota. */
export interface QuotaLimits {
  /** Maximum for all buckets together; without it there is no such limit. */
  readonly total?: number;
  /** Maximum for one bucket. */
  readonly perBucket: number;
  /** The name of the quantity in the errors of {@link Quota.check}: "request bodies in memory". */
  readonly what?: string;
}

/**
 * A quantity of this process with a limit in total and a limit per fairness bucket (an account, a key). Work that
 * exceeds a limit is rejected and never waits (decision G-100).
 */
export class Quota {
  private readonly counts = new BucketCounts();
  private readonly total: number;
  private readonly perBucket: number;
  private readonly what: string;

  constructor({ total = Infinity, perBucket, what = 'operations at once' }: QuotaLimits) {
    this.total = total;
    this.perBucket = perBucket;
    this.what = what;
  }

  /** The amount in use by all buckets together. */
  get inUse(): number {
    return this.counts.total;
  }

  /**
   * The error if the bucket cannot acquire this amount now: 429 if its own limit is reached, 503 if the total is in
   * use. Undefined if it can.
   */
  check(bucket: string, amount: number): GatewayError | undefined {
    const options = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    if (this.counts.of(bucket) + amount > this.perBucket) {
      const message = `You may have at most ${this.perBucket} ${this.what}. ${TRY_AGAIN}`;
      return new GatewayError('rate_limit_exceeded', message, options);
    }
    return this.counts.total + amount > this.total
      ? new GatewayError(
          'service_unavailable',
          `The gateway has too many ${this.what}. ${TRY_AGAIN}`,
          options,
        )
      : undefined;
  }

  /** Acquires an amount; {@link release} must follow. If it returns an error, nothing was acquired. */
  acquire(bucket: string, amount: number): GatewayError | undefined {
    const error = this.check(bucket, amount);
    if (error === undefined) this.counts.add(bucket, amount);
    return error;
  }

  /** As {@link acquire}, for callers who need no error. Returns whether it acquired the amount. */
  tryAcquire(bucket: string, amount = 1): boolean {
    const fits =
      this.counts.of(bucket) + amount <= this.perBucket && this.counts.total + amount <= this.total;
    if (fits) this.counts.add(bucket, amount);
    return fits;
  }

  release(bucket: string, amount = 1): void {
    this.counts.add(bucket, -amount);
  }
}
