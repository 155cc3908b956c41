/**
 * Status of a delivery. `pending`: an attempt is due or running; `delivered`: the receiver accepted it; `failed`: no further
 * attempt will be made.
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** One POST to the receiver. */
export interface DeliveryAttempt {
  readonly startedAt: Date;
  /** HTTP status of the response; null without a response. */
  readonly statusCode: number | null;
  /** Why there was no response, in one word; null with a response. */
  readonly error: string | null;
  readonly durationMs: number;
}

/** A webhook delivery with its newest 100 attempts, oldest first. */
export interface Delivery {
  readonly id: string;
  readonly accountId: string;
  /** The id of the task that the delivery reports or, for an event of the account, of the endpoint that is told. */
  readonly ownerId: string;
  /** The type of the event of the account; null: the webhook of a task. */
  readonly event: string | null;
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
  /** From `WebhookSecrets.seal` with the owner's id. Null: the delivery is not signed. */
  readonly sealedSecret: string | null;
  /** The exact body of every attempt. */
  readonly body: Buffer;
}
