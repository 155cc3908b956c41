import { GatewayError } from '../../common/errors/gateway-error.js';

const RETRY_AFTER_SECONDS = 1;

/** The limits of a quota. */
export interface QuotaLimits {
  /** Maximum for all buckets together. */
  readonly total: number;
  /** Maximum for one bucket. */
  readonly perBucket: number;
  /** The name of the quantity in error messages: "request bodies in memory". */
  readonly what: string;
}

/**
 * A quantity of this process with a limit in total and a limit per fairness bucket (an account, a key). Work that
 * exceeds a limit is rejected and never waits (decision G-100).
 */
export class Quota {
  private readonly amounts = new Map<string, number>();
  private used = 0;

  constructor(private readonly limits: QuotaLimits) {}

  /** The amount in use by all buckets together. */
  get inUse(): number {
    return this.used;
  }

  /**
   * The error if the bucket cannot acquire this amount now: 429 if its own limit is reached, 503 if the total is in
   * use. Undefined if it can.
   */
  check(bucket: string, amount: number): GatewayError | undefined {
    const { total, perBucket, what } = this.limits;
    const options = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    if ((this.amounts.get(bucket) ?? 0) + amount > perBucket) {
      return new GatewayError('rate_limit_exceeded', `You have too many ${what}.`, options);
    }
    return this.used + amount > total
      ? new GatewayError('service_unavailable', `The gateway has too many ${what}.`, options)
      : undefined;
  }

  /** Acquires an amount; {@link release} must follow. If it returns an error, nothing was acquired. */
  acquire(bucket: string, amount: number): GatewayError | undefined {
    const error = this.check(bucket, amount);
    if (error === undefined) this.change(bucket, amount);
    return error;
  }

  release(bucket: string, amount: number): void {
    this.change(bucket, -amount);
  }

  private change(bucket: string, amount: number): void {
    const amountNow = (this.amounts.get(bucket) ?? 0) + amount;
    if (amountNow === 0) this.amounts.delete(bucket);
    else this.amounts.set(bucket, amountNow);
    this.used += amount;
  }
}
