import { useEffect, useState } from 'preact/hooks';
import type { Shape } from '../shared/api.js';
import { age, When } from '../shared/time.js';

const MINUTE_S = 60;
const SECOND_MS = 1_000;
/** The longest overlap; a key that lasts longer is not counted down. */
const WEEK_S = 604_800;

/** When a key ends, and how long that is: by the second in the last hour. */
export function KeyEnd({ of: key }: { readonly of: Shape<'ApiKeyView'> }) {
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
