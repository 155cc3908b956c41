import type { Role } from './role.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Who sent a request to the operator API. Set by the guard, or before it for a session of the console. */
    operator?: Operator;
  }
}

/** The header in which a session says why money is to move. */
export const REASON_HEADER = 'x-console-reason';

/** Methods that change nothing. */
export const READING_METHODS: readonly string[] = ['GET', 'HEAD'];

/** Who asks for something at the operator API. */
export interface Operator {
  /** The beginning of the SHA-256 of what vouches for the operator: the admin token, or the settings of OIDC. */
  readonly actor: string;
  readonly role: Role;
  /** The name that the identity provider has told; null for the holder of the token. */
  readonly person: string | null;
  /** Absent for the holder of the token. */
  readonly identity?: OperatorIdentity | undefined;
  /** Why, as the person said; null where nobody was asked. */
  readonly reason: string | null;
  /** Absent: the request itself has the token. */
  readonly session?: OperatorSession;
}

/** Who somebody is at an identity provider, which stays when the name changes (OpenID Connect: `iss` and `sub`). */
export interface OperatorIdentity {
  readonly issuer: string;
  readonly subject: string;
}

/** The session of an operator who uses the console. */
export interface OperatorSession {
  readonly id: string;
  /** Until when the last proof is good enough to move money, in epoch milliseconds. */
  readonly provedUntilMs: number;
}
