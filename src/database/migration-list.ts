import type { MigrationInterface } from 'typeorm';
import { CreateLedger1700000000010 } from './migrations/0010-create-ledger.migration.js';
import { CreateExecutions1700000000020 } from './migrations/0020-create-executions.migration.js';
import { CreateApiKeys1700000000030 } from './migrations/0030-create-api-keys.migration.js';
import { CreateWebhooks1700000000070 } from './migrations/0070-create-webhooks.migration.js';

/**
 * Every migration, oldest first, one line each. A class name ends in 13 digits that only grow, for example
 * `CreateAccount1700000000010`; a migration that was released is never edited or removed.
 */
export const MIGRATIONS: readonly (new () => MigrationInterface)[] = [
  CreateLedger1700000000010,
  CreateExecutions1700000000020,
  CreateApiKeys1700000000030,
  CreateWebhooks1700000000070,
];
