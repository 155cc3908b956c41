import { SetMetadata } from '@nestjs/common';

/**
 * What an operator may do, the least first; each may do what those before it may (docs/operate/console.md). A viewer sees
 * amounts and no content; finance sees costs and moves money.
 */
export const OPERATOR_ROLES = ['viewer', 'support', 'finance', 'admin'] as const;

/** One of the roles. */
export type Role = (typeof OPERATOR_ROLES)[number];

/** Whether a role is the needed one or one above it. */
export const reaches = (role: Role, needed: Role): boolean =>
  OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(needed);

/** Metadata key of the role that a handler, or all handlers of a controller, need. */
export const NEEDED_ROLE = Symbol('NEEDED_ROLE');

/** Says which role an operator needs for the endpoint; on a handler it replaces that of its controller. */
export const NeedsRole = (role: Role): ClassDecorator & MethodDecorator =>
  SetMetadata(NEEDED_ROLE, role);

/** Metadata key of handlers that move money or decide what costs how much. */
export const MOVES_MONEY = Symbol('MOVES_MONEY');

/** Says that a person needs a fresh proof and a reason for it. */
export const MovesMoney = (): MethodDecorator => SetMetadata(MOVES_MONEY, true);

/** Metadata key of handlers that need a reason alone. */
export const NEEDS_REASON = Symbol('NEEDS_REASON');

/** Says that a person needs a reason for it. */
export const NeedsReason = (): MethodDecorator => SetMetadata(NEEDS_REASON, true);
