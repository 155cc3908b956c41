import type { Worker } from 'node:cluster';
import type { Clock } from '../../common/time/clock.js';
import { MemoryBuckets } from './memory-buckets.js';
import type { TokenBuckets, TokenOutcome } from './token-bucket.js';

const RESPONSE_TIMEOUT_MS = 250;
const PENDING_LIMIT = 10_000;

interface TakeMessage {
  readonly kind: 'take-token';
  readonly id: number;
  readonly bucket: string;
  readonly perMinute: number;
  readonly count: number;
}
interface TokenMessage {
  readonly kind: 'token';
  readonly id: number;
  readonly outcome: TokenOutcome;
}

/** In the primary process: handles the workers' requests for tokens. */
export function serveBuckets(worker: Worker, buckets: MemoryBuckets): void {
  worker.on('message', (message: Partial<TakeMessage>) => {
    if (message.kind !== 'take-token' || worker.isDead()) return;
    const { id, bucket, perMinute, count } = message as TakeMessage;
    const outcome = buckets.take(bucket, perMinute, count);
    const response: TokenMessage = { kind: 'token', id, outcome };
    worker.send(response, () => undefined);
  });
}

/** In a worker process: buckets that are kept in the primary (ADR 0011). */
export class ClusterBuckets implements TokenBuckets {
  private readonly pending = new Map<number, (outcome: TokenOutcome) => void>();
  private readonly local: MemoryBuckets;
  private nextId = 0;

  constructor(clock: Clock) {
    this.local = new MemoryBuckets(clock);
    process.on('message', (message: Partial<TokenMessage>) => {
      if (message.kind === 'token') this.settle(message as TokenMessage);
    });
  }

  take(bucket: string, perMinute: number, count = 1): Promise<TokenOutcome> | TokenOutcome {
    if (this.pending.size >= PENDING_LIMIT || process.send === undefined) {
      return this.local.take(bucket, perMinute, count);
    }
    const id = this.nextId++;
    const message: TakeMessage = { kind: 'take-token', id, bucket, perMinute, count };
    process.send(message, () => undefined);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.pending.delete(message.id);
        resolve(this.local.take(bucket, perMinute, count));
      }, RESPONSE_TIMEOUT_MS);
      this.pending.set(message.id, (outcome) => {
        clearTimeout(timer);
        resolve(outcome);
      });
    });
  }

  private settle(message: TokenMessage): void {
    this.pending.get(message.id)?.(message.outcome);
    this.pending.delete(message.id);
  }
}
