/** Amounts in use, in total and by fairness bucket (an account, a key, an address). Its owner knows the limits. */
export class BucketCounts {
  /** No amount is 0. */
  private readonly amounts = new Map<string, number>();
  private sum = 0;

  /** The amount of all buckets together. */
  get total(): number {
    return this.sum;
  }

  /** Number of buckets with an amount other than 0. */
  get buckets(): number {
    return this.amounts.size;
  }

  of(bucket: string): number {
    return this.amounts.get(bucket) ?? 0;
  }

  /** The largest amount of a bucket; 0 if nothing is in use. */
  get most(): number {
    const largest = this.largest();
    return largest === undefined ? 0 : this.of(largest);
  }

  /** The bucket with the largest amount; undefined if nothing is in use. */
  largest(): string | undefined {
    let largest: string | undefined;
    let most = 0;
    for (const [bucket, amount] of this.amounts) {
      if (amount <= most) continue;
      most = amount;
      largest = bucket;
    }
    return largest;
  }

  /** The buckets with an amount other than 0, and their amounts. */
  entries(): [string, number][] {
    return [...this.amounts];
  }

  /** Adds an amount, which is negative when it is released. */
  add(bucket: string, amount = 1): void {
    const amountNow = this.of(bucket) + amount;
    if (amountNow === 0) this.amounts.delete(bucket);
    else this.amounts.set(bucket, amountNow);
    this.sum += amount;
  }

  /** A snapshot that does not change with this object. */
  copy(): BucketCounts {
    const copy = new BucketCounts();
    for (const [bucket, amount] of this.amounts) copy.add(bucket, amount);
    return copy;
  }
}
