import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The sum of the entries of each account and day, as far as an audit has read, so that the next audit reads only what is new. */
export class UsageCheckpoints1700000000235 implements MigrationInterface {
  readonly name = 'UsageCheckpoints1700000000235';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE usage_checkpoint (account_id uuid PRIMARY KEY, position bigint NOT NULL);
      CREATE TABLE usage_checkpoint_day (
        account_id uuid NOT NULL,
        day date NOT NULL,
        charged bigint NOT NULL,
        PRIMARY KEY (account_id, day)
      );`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE usage_checkpoint_day, usage_checkpoint`);
  }
}
