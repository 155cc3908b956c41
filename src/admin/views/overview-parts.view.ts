import { ApiProperty } from '@nestjs/swagger';
import type { ProviderKey } from '../../providers/routing/provider-registry.js';

const age = { nullable: true, type: 'integer' } as const;

/** The last audit of the books. */
export class BooksOverview {
  @ApiProperty({
    nullable: true,
    type: Boolean,
    description: 'Whether the last audit found no fault; null before the first one',
  })
  ok!: boolean | null;

  @ApiProperty({
    nullable: true,
    type: 'integer',
    example: 1_700_000_000,
    description: 'When it ended: epoch seconds',
  })
  finished_at!: number | null;

  @ApiProperty({
    example: '100000000',
    description:
      'Micro-USD of all ledger entries that audits without a fault have read, which was the sum of the balances then',
  })
  entries_microusd!: string;
}

/** The sums of all accounts. */
export class BalancesOverview {
  @ApiProperty({ type: 'integer', description: 'How many accounts there are' })
  accounts!: number;

  @ApiProperty({ example: '100000000', description: 'Micro-USD of all balances' })
  posted_microusd!: string;

  @ApiProperty({ example: '12500', description: 'Micro-USD of them that are held' })
  held_microusd!: string;

  @ApiProperty({ example: '99987500', description: 'Micro-USD that may be spent' })
  available_microusd!: string;
}

/** What holds money. */
export class HoldsOverview {
  @ApiProperty({ type: 'integer', description: 'Synchronous calls, as the last sweep found them' })
  calls!: number;

  @ApiProperty({
    ...age,
    description: 'Seconds since the first of them began; null: there is none',
  })
  oldest_call_age_seconds!: number | null;

  @ApiProperty({ type: 'integer', description: 'Tasks without a known outcome' })
  tasks!: number;
}

/** Tasks under way. */
export class TasksOverview {
  @ApiProperty({ type: 'integer', description: 'Tasks that no provider has accepted yet' })
  queued!: number;

  @ApiProperty({ type: 'integer', description: 'Tasks that a provider works on' })
  processing!: number;

  @ApiProperty({ description: 'How long the longest due step of a task has been waiting' })
  lag_seconds!: number;
}

/** Tasks whose outcome is unknown. */
export class UndecidedOverview {
  @ApiProperty({
    type: 'integer',
    description: 'Tasks in `reconciliation_required`; 10,000 are counted at most',
  })
  tasks!: number;

  @ApiProperty({ ...age, description: 'Seconds since the oldest of them waits; null: none does' })
  oldest_age_seconds!: number | null;

  @ApiProperty({ example: '250000', description: 'Micro-USD that they hold' })
  held_microusd!: string;
}

/** Deliveries that are late. */
export class WebhooksOverview {
  @ApiProperty({ type: 'integer', description: 'Deliveries that are due and not begun' })
  overdue!: number;

  @ApiProperty({ description: 'How long the oldest of them is due' })
  lag_seconds!: number;
}

/** An open circuit breaker. */
export class BreakerOverview {
  @ApiProperty({ example: 'openai', description: 'Id of the provider' })
  provider!: string;

  @ApiProperty({ example: 'chat', description: 'Operation that is not tried there for now' })
  operation!: string;
}

/** What is owed to callers. */
export class DebtsOverview {
  @ApiProperty({
    type: 'integer',
    description: 'Holds and charges of failed calls that the database has not taken back yet',
  })
  releases!: number;
}

/** An account that runs dry. */
export class DryAccountOverview {
  @ApiProperty({
    example: 'acct_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Id of the account',
  })
  id!: string;

  @ApiProperty({ example: 'acme', description: 'Name of the account' })
  name!: string;

  @ApiProperty({ example: '1000000', description: 'Micro-USD that may be spent' })
  available_microusd!: string;

  @ApiProperty({
    example: '400000',
    description: 'Micro-USD charged per day in the last 7 days, less what was given back',
  })
  burn_microusd_per_day!: string;

  @ApiProperty({ type: 'integer', example: 2, description: 'Whole days that the money lasts so' })
  days_left!: number;
}

/** Accounts that run dry. */
export class DryOverview {
  @ApiProperty({
    type: 'integer',
    description: 'How many accounts these are; disabled ones are left out',
  })
  count!: number;

  @ApiProperty({ type: 'integer', description: 'Their money lasts for fewer days' })
  within_days!: number;

  @ApiProperty({ type: [DryAccountOverview], description: 'The first 10 to run dry' })
  accounts!: DryAccountOverview[];
}

/** A provider and its key. */
export class ProviderOverview {
  @ApiProperty({ example: 'openai', description: 'Id of the provider' })
  provider!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'OPENAI_API_KEY',
    description: 'Name of the variable that holds its key; null: it takes none',
  })
  key_variable!: string | null;

  @ApiProperty({ description: 'Whether that variable is set' })
  has_key!: boolean;

  @ApiProperty({
    enum: ['provider', 'sandbox', 'nobody'],
    description: 'Who does the work: the provider, the sandbox in its place, or nobody',
  })
  served_by!: ProviderKey['servedBy'];
}
