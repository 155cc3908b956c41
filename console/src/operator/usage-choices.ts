import type { Filter } from '../shared/filters.js';
import type { DimensionId } from '../shared/usage-dimensions.js';

/** By what operators see usage and margins. */
export const OPERATOR_DIMENSIONS: readonly DimensionId[] = [
  ...(['model', 'account', 'key', 'endpoint', 'run', 'provider', 'upstream_model'] as const),
  'time',
];

/** What operators see usage and margins of. */
export const OPERATOR_USAGE_FILTERS: readonly Filter[] = [
  { name: 'account_id', label: 'Account', placeholder: 'acct_…' },
  { name: 'api_key_id', label: 'Key', placeholder: 'key_…' },
  { name: 'model', label: 'Model', placeholder: 'Any model' },
];
