import { useEffect, useState } from 'preact/hooks';
import type { Shape } from '../shared/api.js';
import { limitOf, stateOf } from '../shared/key-columns.js';
import { Badge } from '../shared/parts.js';
import type { Column } from '../shared/table.js';
import { age, MINUTE_S, When } from '../shared/time.js';

type Key = Shape<'ApiKeyView'>;

const SECOND_MS = 1_000;
/** The longest overlap; a key that lasts longer is not counted down. */
const WEEK_S = 604_800;

/** When a key ends, and how long that is: by the second in the last hour. */
function KeyEnd({ of: key }: { readonly of: Key }) {
  const { expires_at: end, revoked_at: revoked } = key;
  const nowSeconds = useNow(end !== null && revoked === null);
  if (end === null) return <span class="soft">never</span>;
  const left = end - nowSeconds;
  return (
    <>
      <When at={end} />
      {revoked === null && left > 0 && left <= WEEK_S && (
        <span class="badge wait">{`in ${leftInWords(left)}`}</span>
      )}
    </>
  );
}

/** Epoch seconds, anew each second as long as somebody counts. */
function useNow(counts: boolean): number {
  const [nowMs, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!counts) return undefined;
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [counts]);
  return nowMs / SECOND_MS;
}

function leftInWords(seconds: number): string {
  const minutes = Math.floor(seconds / MINUTE_S);
  if (minutes === 0 || minutes >= MINUTE_S) return age(seconds);
  return `${minutes} min ${Math.floor(seconds % MINUTE_S)} s`;
}

/** What the holder of a key sees of the keys of the account; fewer columns than an operator has, so that the acts are seen. */
export const OWN_KEY_COLUMNS: readonly Column<Key>[] = [
  {
    head: 'Key',
    cell: ({ id, name, prefix }) => (
      <span title={id}>
        {name ?? <span class="soft">no name</span>}
        <br />
        <small class="mono">{prefix}…</small>
      </span>
    ),
  },
  { head: 'State', cell: (key) => <Badge state={stateOf(key)} /> },
  { head: 'May', cell: ({ scopes }) => scopes.join(', ') },
  { head: 'Models', cell: ({ allowed_models: models }) => models?.join(', ') ?? 'all' },
  {
    head: 'Limits',
    cell: (key) => (
      <>
        {limitOf(key)}
        {key.requests_per_minute !== null && (
          <>
            <br />
            <small>{key.requests_per_minute} requests per minute</small>
          </>
        )}
      </>
    ),
  },
  { head: 'Expires', cell: (key) => <KeyEnd of={key} /> },
  { head: 'Last used', cell: ({ last_used_at: at }) => <When at={at} /> },
];
