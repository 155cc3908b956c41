/** Where a delivery stands: an attempt is due or under way, a receiver took it, or none will be made any more. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** One POST to the receiver. */
export interface DeliveryAttempt {
  readonly startedAt: Date;
  /** Status of the answer; null where none came. */
  readonly statusCode: number | null;
  /** Why no answer came, in one word; null where one came. */
  readonly error: string | null;
  readonly durationMs: number;
}

/** A webhook delivery with its log. */
export interface Delivery {
  readonly id: string;
  readonly accountId: string;
  /** What the delivery tells of: a task. */
  readonly ownerId: string;
  readonly url: string;
  readonly status: DeliveryStatus;
  readonly attempts: readonly DeliveryAttempt[];
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
}

/** A delivery to make. */
export interface NewDelivery {
  readonly url: string;
  /** From `WebhookSecrets.seal`, for the owner; null: the delivery is not signed. */
  readonly sealedSecret: string | null;
  /** The very bytes of every attempt. */
  readonly body: Buffer;
}
