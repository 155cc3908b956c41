/** Dimensions by which usage can be grouped. */
export const USAGE_DIMENSIONS = [
  'day',
  'hour',
  'model',
  'key',
  'endpoint',
  'run',
  'account',
] as const;
/** Those of operators too. */
export const ADMIN_USAGE_DIMENSIONS = [...USAGE_DIMENSIONS, 'provider', 'upstream_model'] as const;
export type UsageDimension = (typeof ADMIN_USAGE_DIMENSIONS)[number];

/** A request for usage: whole days of UTC, or whole hours where it groups by `hour`. All filters must hold. */
export interface UsageRequest {
  readonly groupBy: readonly UsageDimension[];
  /** A date, or a time such as `2026-01-31T14:00:00Z`. */
  readonly from: string;
  /** The same, exclusive. */
  readonly to: string;
  readonly accountId: string | undefined;
  readonly apiKeyId: string | undefined;
  readonly model: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** The account and key id of rows that sum all accounts, and the key id of calls without a key. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';
