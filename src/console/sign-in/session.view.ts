import { type ConsoleSession, provedUntilMs } from '../../auth/sessions/console-session.js';
import type { Role } from '../../auth/operators/role.js';
import type { Caller } from '../../auth/caller.js';
import type { Scope } from '../../auth/scope.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { toEpochSeconds } from '../../common/time/clock.js';

/** Which ways of signing in there are. */
export interface SignInView {
  readonly operator: boolean;
  readonly oidc: boolean;
  /** Why nobody may sign in here, as a sentence that says what to set; null: one may. */
  readonly refused: string | null;
}

/** The session of a browser, as its page sees it. Times are epoch seconds. */
export interface SessionView {
  readonly kind: 'operator' | 'customer';
  readonly role: Role | null;
  readonly person: string | null;
  readonly account_id: string | null;
  readonly key_id: string | null;
  readonly scopes: readonly Scope[];
  readonly reads_only: boolean;
  readonly expires_at: number;
  readonly proof_until: number | null;
  readonly sign_in: SignInView;
}

/** Of a customer, what the key of `caller` may do now. */
export function viewSession(
  session: ConsoleSession,
  caller: Caller | undefined,
  signIn: SignInView,
): SessionView {
  const { holder, expiresAt } = session;
  const untilMs = Math.min(expiresAt.getTime(), caller?.expiresAtMs ?? Infinity);
  const rest = { expires_at: toEpochSeconds(new Date(untilMs)), sign_in: signIn };
  if (holder.kind === 'operator') {
    const { kind, role, person } = holder;
    const provedMs = provedUntilMs(session);
    return {
      kind,
      role,
      person,
      account_id: null,
      key_id: null,
      scopes: [],
      reads_only: role === 'viewer',
      proof_until: provedMs === 0 ? null : toEpochSeconds(new Date(provedMs)),
      ...rest,
    };
  }
  const { kind, accountId, apiKeyId } = holder;
  const scopes = caller?.scopes ?? [];
  return {
    kind,
    role: null,
    person: null,
    account_id: toPublicId('acct', accountId),
    key_id: apiKeyId === null ? null : toPublicId('key', apiKeyId),
    scopes,
    reads_only: scopes.every((scope) => scope === 'read'),
    proof_until: null,
    ...rest,
  };
}
