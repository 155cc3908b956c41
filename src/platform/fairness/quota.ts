import { GatewayError } from '../../common/errors/gateway-error.js';

const RETRY_AFTER_SECONDS = 1;

/** What is shared, and how much of it exists. */
export interface QuotaLimits {
  /** For all holders together. */
  readonly total: number;
  /** For one holder. */
  readonly perHolder: number;
  /** The name of the quantity in a refusal: "request bodies in memory". */
  readonly what: string;
}

/**
 * A bounded quantity of this process that holders share; each may have at most its own limit. Work that does not fit is
 * refused and never waits (decision G-100).
 */
export class Quota {
  private readonly parts = new Map<string, number>();
  private taken = 0;

  constructor(private readonly limits: QuotaLimits) {}

  /** Taken by all holders together. */
  get inUse(): number {
    return this.taken;
  }

  /**
   * Why the holder cannot take this much now: 429 when its own limit is reached, 503 when the whole is taken. Undefined
   * when it can.
   */
  check(holder: string, amount: number): GatewayError | undefined {
    const { total, perHolder, what } = this.limits;
    const options = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    if ((this.parts.get(holder) ?? 0) + amount > perHolder) {
      return new GatewayError('rate_limit_exceeded', `You have too many ${what}.`, options);
    }
    return this.taken + amount > total
      ? new GatewayError('service_unavailable', `The gateway has too many ${what}.`, options)
      : undefined;
  }

  /** Takes a part, which has to be given back. If it returns a refusal, nothing was taken. */
  acquire(holder: string, amount: number): GatewayError | undefined {
    const refusal = this.check(holder, amount);
    if (refusal === undefined) this.change(holder, amount);
    return refusal;
  }

  release(holder: string, amount: number): void {
    this.change(holder, -amount);
  }

  private change(holder: string, amount: number): void {
    const part = (this.parts.get(holder) ?? 0) + amount;
    if (part === 0) this.parts.delete(holder);
    else this.parts.set(holder, part);
    this.taken += amount;
  }
}
