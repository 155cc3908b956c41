const MAX_WAIT_SECONDS = 60;
const SECONDS = /^(?:"([0-9]{1,9})"|([0-9]{1,9}))$/;

/**
 * Seconds of `wait` in a `Prefer` header, alone or in a list of preferences. Undefined when it is absent or not 1 to
 * 60, because RFC 7240 says to ignore invalid preferences (decision G-98).
 */
export function waitSecondsOf(prefer: string | undefined): number | undefined {
  for (const preference of (prefer ?? '').split(',')) {
    const [token = ''] = preference.split(';');
    // One regular expression over the whole header could backtrack over its many spaces.
    const [name = '', ...value] = token.split('=');
    const isWait = name.trim().toLowerCase() === 'wait';
    const match = isWait ? SECONDS.exec(value.join('=').trim()) : null;
    // Only the first `wait` counts.
    if (match) return within(Number(match[1] ?? match[2]));
  }
  return undefined;
}

function within(seconds: number): number | undefined {
  return seconds >= 1 && seconds <= MAX_WAIT_SECONDS ? seconds : undefined;
}
