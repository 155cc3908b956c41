import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A claim reads the 1,000 oldest tasks of an account in the order of the primary key (0343). PostgreSQL 15 planned it over a small
 * table as a bitmap scan, which reads and sorts all tasks of the account; a session keeps that plan while the table grows.
 */
export class ClaimsReadAccountsInOrder1700000000465 implements MigrationInterface {
  readonly name = 'ClaimsReadAccountsInOrder1700000000465';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER FUNCTION task_claim_sharing SET enable_bitmapscan = off');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER FUNCTION task_claim_sharing RESET enable_bitmapscan');
  }
}
