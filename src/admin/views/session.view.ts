import { ApiProperty } from '@nestjs/swagger';
import { OPERATOR_ROLES, type Role } from '../../auth/operators/role.js';
import type { ConsoleSession } from '../../auth/sessions/console-session.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { toEpochSeconds } from '../../common/time/clock.js';

/** A session of the console. */
export class ConsoleSessionView {
  @ApiProperty({
    example: 'ses_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Id of the session; what its cookie holds is kept nowhere',
  })
  id!: string;

  @ApiProperty({ enum: ['console_session'], description: 'Says what kind of object this is' })
  object!: 'console_session';

  @ApiProperty({ enum: ['operator', 'customer'], description: 'Who has it' })
  kind!: 'operator' | 'customer';

  @ApiProperty({
    nullable: true,
    type: String,
    enum: [...OPERATOR_ROLES, null],
    description: 'The role of an operator; null for a customer',
  })
  role!: Role | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'jo@example.com',
    description:
      'An operator, as the identity provider named the person; null: the token opened it',
  })
  person!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'https://login.example',
    description: 'The identity provider that let the person in; null where none did',
  })
  issuer!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '00u1a2b3',
    description: 'Who the person is there, which stays when the name changes',
  })
  subject!: string | null;

  @ApiProperty({ nullable: true, type: String, description: 'Account of a customer' })
  account_id!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    description: 'Key as which a customer calls; null: a portal link opened the session',
  })
  api_key_id!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '192.0.2.7',
    description: 'The address from which it was opened',
  })
  address!: string | null;

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;

  @ApiProperty({ description: 'Epoch seconds, to the minute' })
  last_used_at!: number;

  @ApiProperty({ description: 'Epoch seconds: when it ends at the latest' })
  expires_at!: number;
}

/** A page of sessions. */
export class ConsoleSessionPage extends pageOfViews(ConsoleSessionView) {}

/** The session as operators see it. */
export function viewConsoleSession(session: ConsoleSession): ConsoleSessionView {
  const { id, holder, address, createdAt, lastSeenAt, expiresAt } = session;
  const isOperator = holder.kind === 'operator';
  const identity = isOperator ? holder.identity : undefined;
  const apiKeyId = isOperator ? null : holder.apiKeyId;
  return {
    id: toPublicId('ses', id),
    object: 'console_session',
    kind: holder.kind,
    role: isOperator ? holder.role : null,
    person: isOperator ? holder.person : null,
    issuer: identity?.issuer ?? null,
    subject: identity?.subject ?? null,
    account_id: isOperator ? null : toPublicId('acct', holder.accountId),
    api_key_id: apiKeyId === null ? null : toPublicId('key', apiKeyId),
    address,
    created_at: toEpochSeconds(createdAt),
    last_used_at: toEpochSeconds(lastSeenAt),
    expires_at: toEpochSeconds(expiresAt),
  };
}
