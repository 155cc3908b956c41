import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What operators asked to change. Rows are written once and never changed. */
export class OperatorActions1700000000097 implements MigrationInterface {
  readonly name = 'OperatorActions1700000000097';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE operator_action (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        actor text NOT NULL,
        action text NOT NULL,
        target text,
        address text,
        at timestamptz NOT NULL
      );`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE operator_action');
  }
}
