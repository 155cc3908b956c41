import type { MigrationInterface } from 'typeorm';

/**
 * Every migration, oldest first, one line each. A class name ends in 13 digits that only grow, for example
 * `CreateAccount1700000000010`; a migration that was released is never edited or removed.
 */
export const MIGRATIONS: readonly (new () => MigrationInterface)[] = [];
