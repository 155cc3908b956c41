import { createHash, randomBytes } from 'node:crypto';
import { MINUTE_MS } from '../../common/time/spans.js';
import type { OperatorIdentity } from '../operators/operator.js';
import type { Role } from '../operators/role.js';

/** A session ends this long after it was opened. */
export const SESSION_MS = 720 * MINUTE_MS;
/** A session ends when it was not used for this long. */
export const IDLE_MS = 60 * MINUTE_MS;
/** A proof is good enough to move money for this long. */
export const PROOF_MS = 5 * MINUTE_MS;

/** Who opens a session: an operator, or a customer as a key or, without one, by a portal link. */
export type SessionHolder =
  | {
      readonly kind: 'operator';
      readonly actor: string;
      readonly role: Role;
      readonly person: string | null;
      /** Absent: the token let the operator in. */
      readonly identity?: OperatorIdentity | undefined;
    }
  | { readonly kind: 'customer'; readonly accountId: string; readonly apiKeyId: string | null };

/** A session of the console. */
export interface ConsoleSession {
  readonly id: string;
  readonly holder: SessionHolder;
  readonly address: string | null;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
  /** When the operator last proved who it is; null: never in this session. */
  readonly provedAt: Date | null;
}

/** A row of `console_session` without its secret. */
export interface SessionRow {
  readonly id: string;
  readonly actor: string | null;
  readonly role: Role | null;
  readonly person: string | null;
  readonly account_id: string | null;
  readonly api_key_id: string | null;
  readonly address: string | null;
  readonly created_at: Date;
  readonly last_seen_at: Date;
  readonly expires_at: Date;
  readonly proved_at: Date | null;
  readonly issuer: string | null;
  readonly subject: string | null;
}

/** The session of a row. */
export function sessionOf(row: SessionRow): ConsoleSession {
  return {
    id: row.id,
    holder: holderOf(row),
    address: row.address,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    expiresAt: row.expires_at,
    provedAt: row.proved_at,
  };
}

function holderOf(row: SessionRow): SessionHolder {
  const { actor, role, person, account_id, api_key_id, issuer, subject } = row;
  if (actor !== null && role !== null) {
    const identity = issuer !== null && subject !== null ? { issuer, subject } : undefined;
    return { kind: 'operator', actor, role, person, identity };
  }
  return { kind: 'customer', accountId: account_id ?? '', apiKeyId: api_key_id };
}

/** Whose sessions are counted together. */
export function holderName(holder: SessionHolder): string {
  if (holder.kind === 'operator') {
    return `operator:${holder.actor}:${holder.identity?.subject ?? holder.person ?? ''}`;
  }
  const { apiKeyId, accountId } = holder;
  return apiKeyId === null ? `account:${accountId}` : `key:${apiKeyId}`;
}

/** Until when the last proof is good enough to move money, in epoch milliseconds; 0: there was none. */
export const provedUntilMs = ({ provedAt }: ConsoleSession): number =>
  provedAt === null ? 0 : provedAt.getTime() + PROOF_MS;

const SECRET_BYTES = 32;

/** What a secret of a session or of a link looks like. Other text is refused without a look-up. */
export const SECRET_FORM = /^[\w-]{43}$/;

/** A new secret: 256 random bits, as text for a cookie or a URL. */
export const makeSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** SHA-256 of the secret; it is 256 random bits, so no salt or stretching is needed. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();
