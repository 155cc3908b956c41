import type { Shape } from './api.js';
import { usd } from './money.js';
import { Badge, Id } from './parts.js';
import type { Column } from './table.js';
import { When } from './time.js';

type Key = Shape<'ApiKeyView'>;

/** The spend limit of a key, in words. */
export const limitOf = (key: Pick<Key, 'spend_limit_microusd' | 'spend_limit_period'>): string => {
  const { spend_limit_microusd: limit, spend_limit_period: period } = key;
  if (limit === null) return 'none';
  return `${usd(limit)} ${period === 'total' ? 'in all' : `per ${period ?? 'month'}`}`;
};

/** Whether a key is taken, and why not. */
export const stateOf = ({ revoked_at: revoked, expires_at: end }: Key): string => {
  if (revoked !== null) return 'revoked';
  return end !== null && end * 1_000 < Date.now() ? 'expired' : 'active';
};

/** What is shown of a key in a list. */
export const KEY_COLUMNS: readonly Column<Key>[] = [
  { head: 'Name', cell: ({ name }) => name ?? '–' },
  { head: 'Begins with', cell: ({ prefix }) => <span class="mono">{prefix}…</span> },
  { head: 'State', cell: (key) => <Badge state={stateOf(key)} /> },
  { head: 'May', cell: ({ scopes }) => scopes.join(', ') },
  { head: 'Models', cell: ({ allowed_models: models }) => models?.join(', ') ?? 'all' },
  { head: 'Spend limit', cell: limitOf },
  {
    head: 'Per minute',
    isNumber: true,
    cell: ({ requests_per_minute: most }) => most ?? 'default',
  },
  { head: 'Expires', cell: ({ expires_at: at }) => <When at={at} /> },
  { head: 'Last used', cell: ({ last_used_at: at }) => <When at={at} /> },
  { head: 'Key', cell: ({ id }) => <Id id={id} isShort /> },
];
