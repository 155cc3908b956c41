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
