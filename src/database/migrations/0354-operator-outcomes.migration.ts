import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What came of the actions of operators. A table of its own, because the rows of actions are never changed. */
export class OperatorOutcomes1700000000354 implements MigrationInterface {
  readonly name = 'OperatorOutcomes1700000000354';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE operator_outcome (
        action_id bigint PRIMARY KEY REFERENCES operator_action,
        outcome text NOT NULL,
        made text,
        amount bigint
      );`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE operator_outcome');
  }
}
