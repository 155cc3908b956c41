import { ApiProperty } from '@nestjs/swagger';
import type { JsonObject } from '../../common/json-object.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { toEpochSeconds } from '../../common/time/clock.js';
import { type Role, OPERATOR_ROLES } from '../../auth/operators/role.js';
import type { OperatorAction } from '../../auth/acts/operator-actions.js';

/** A change that an operator requested. */
export class OperatorActionView {
  @ApiProperty({ example: '42', description: 'Number of the act; later ones have greater numbers' })
  id!: string;

  @ApiProperty({ enum: ['operator_action'], description: 'Says what kind of object this is' })
  object!: 'operator_action';

  @ApiProperty({
    example: '8c6976e5b541',
    description:
      "The beginning of the SHA-256 of the admin token, `cli:` and the system's user, or the id of the key that asked, such as `key_…`",
  })
  actor!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'jo@example.com',
    description:
      'Who asked, as the identity provider of the console named the person; null for a token or a key',
  })
  person!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'https://login.example',
    description: 'The identity provider that let the person in; null for a token or a key',
  })
  issuer!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '00u1a2b3',
    description: 'Who the person is there, which stays when the name changes',
  })
  subject!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    enum: [...OPERATOR_ROLES, null],
    example: 'admin',
    description: 'In which role an operator asked; null on the command line and for a key',
  })
  role!: Role | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'ticket 17',
    description: 'Why, as the person said in the console',
  })
  reason!: string | null;

  @ApiProperty({
    example: 'account:credit',
    description: 'By the name of the command that does the same',
  })
  action!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'acct_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'The id that the call or command named',
  })
  target!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '192.0.2.7',
    description: "The client's address; null on the command line",
  })
  address!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'done',
    description:
      '`done` or an error code; null while it is under way, or if the process ended then',
  })
  outcome!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'entry_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'The id of what it made; a repeated request names the same',
  })
  made!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '5000000',
    description: 'The micro-USD of the entry that it made',
  })
  amount_microusd!: string | null;

  @ApiProperty({
    nullable: true,
    type: 'object',
    additionalProperties: true,
    example: { balance_microusd: '0' },
    description:
      'The fields that the act changed, as they were; null where the act failed, made something new, or changed nothing of that kind',
  })
  before!: JsonObject | null;

  @ApiProperty({
    nullable: true,
    type: 'object',
    additionalProperties: true,
    example: { balance_microusd: '5000000' },
    description: 'The same fields afterwards, or those of what it made',
  })
  after!: JsonObject | null;

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;
}

/** A page of operator actions. */
export class OperatorActionPage extends pageOfViews(OperatorActionView) {}

/** The action as operators see it. */
export function viewAction(recorded: OperatorAction): OperatorActionView {
  const { at, amountMicroUsd, change, identity, ...action } = recorded;
  return {
    ...action,
    object: 'operator_action',
    issuer: identity?.issuer ?? null,
    subject: identity?.subject ?? null,
    amount_microusd: amountMicroUsd,
    before: change.before,
    after: change.after,
    created_at: toEpochSeconds(at),
  };
}
