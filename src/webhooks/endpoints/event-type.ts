/** What an account can be told of (API: Events of an account). */
export const EVENT_TYPES = [
  'balance.low',
  'balance.depleted',
  'limit.reached',
  'key.expiring',
  'task.finished',
  'task.unknown',
] as const;

/** One of the types. */
export type EventType = (typeof EVENT_TYPES)[number];

/** The types that deliveries have: also that of a test, which an endpoint is sent on request. */
export const DELIVERED_TYPES = [...EVENT_TYPES, 'test'] as const;
export type DeliveredType = (typeof DELIVERED_TYPES)[number];
