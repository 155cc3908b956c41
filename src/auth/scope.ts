/** What a key may do: read lists and accounts, call what is sold, manage other keys (decision G-109). */
export const SCOPES = ['read', 'call', 'manage'] as const;

/** One of the scopes. */
export type Scope = (typeof SCOPES)[number];

/** The scopes of a key whose maker names none. */
export const DEFAULT_SCOPES: readonly Scope[] = ['read', 'call'];
