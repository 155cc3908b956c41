import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countGivenBack } from './0206-limits-from-usage.migration.js';

/** For databases that 0206 migrated when it did not count yet what was given back. */
export class GivenBackEverywhere1700000000243 implements MigrationInterface {
  readonly name = 'GivenBackEverywhere1700000000243';

  async up(runner: QueryRunner): Promise<void> {
    if (!(await runner.hasColumn('usage_day', 'given_back'))) await countGivenBack(runner);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('The functions before these are gone: restore a backup'));
  }
}
