import { GatewayError } from './errors/gateway-error.js';

const RETRY_AFTER_SECONDS = 1;

/** What is shared, and how much of it there is. */
export interface ShareLimits {
  /** Of all holders together. */
  readonly total: number;
  /** Of one holder. */
  readonly perHolder: number;
  /** In words, for the refusal: "request bodies in memory". */
  readonly what: string;
}

/**
 * A bounded quantity of this process that many holders share, none of them more than its own part. Work that cannot have
 * its part is refused, never parked (decision G-100).
 */
export class SharedQuantity {
  private readonly parts = new Map<string, number>();
  private taken = 0;

  constructor(private readonly limits: ShareLimits) {}

  /** Of all holders together. */
  get inUse(): number {
    return this.taken;
  }

  /** Why the holder cannot have so much now: 429 for its own part, 503 for the whole; undefined when it can. */
  refusal(holder: string, amount: number): GatewayError | undefined {
    const { total, perHolder, what } = this.limits;
    const options = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    if ((this.parts.get(holder) ?? 0) + amount > perHolder) {
      return new GatewayError('rate_limit_exceeded', `You have too many ${what}.`, options);
    }
    return this.taken + amount > total
      ? new GatewayError('service_unavailable', `The gateway has too many ${what}.`, options)
      : undefined;
  }

  /** Takes a part, to be given back; takes nothing where it returns the refusal. */
  take(holder: string, amount: number): GatewayError | undefined {
    const refusal = this.refusal(holder, amount);
    if (refusal === undefined) this.change(holder, amount);
    return refusal;
  }

  give(holder: string, amount: number): void {
    this.change(holder, -amount);
  }

  private change(holder: string, amount: number): void {
    const part = (this.parts.get(holder) ?? 0) + amount;
    if (part === 0) this.parts.delete(holder);
    else this.parts.set(holder, part);
    this.taken += amount;
  }
}
