/**
 * States of a delivery: an attempt is due or under way; a receiver has accepted it; or no further attempt will be made.
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** One POST to the receiver. */
export interface DeliveryAttempt {
  readonly startedAt: Date;
  /** Status of the answer; null without an answer. */
  readonly statusCode: number | null;
  /** Why there was no answer, in one word; null with an answer. */
  readonly error: string | null;
  readonly durationMs: number;
}

/** A webhook delivery with its newest 100 attempts, oldest first. */
export interface Delivery {
  readonly id: string;
  readonly accountId: string;
  /** The id of what the delivery reports: a task. */
  readonly ownerId: string;
  readonly url: string;
  readonly status: DeliveryStatus;
  readonly attempts: readonly DeliveryAttempt[];
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
}

/** A new delivery. */
export interface NewDelivery {
  readonly accountId: string;
  readonly url: string;
  /** From `WebhookSecrets.seal`, for the owner; null: the delivery is not signed. */
  readonly sealedSecret: string | null;
  /** The exact bytes of every attempt. */
  readonly body: Buffer;
}
