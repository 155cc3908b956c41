import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How far the last audit without a finding has read, so that the next one reads only what is new (ADR 0002). */
export class AuditCheckpoints1700000000053 implements MigrationInterface {
  readonly name = 'AuditCheckpoints1700000000053';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE audit_checkpoint (
        account_id uuid PRIMARY KEY,
        position bigint NOT NULL,
        entries bigint NOT NULL
      );
      CREATE TABLE audit_state (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        executions_from timestamptz NOT NULL DEFAULT '-infinity',
        holds_from timestamptz NOT NULL DEFAULT '-infinity',
        claimed_at timestamptz NOT NULL DEFAULT '-infinity',
        finished_at timestamptz,
        ok boolean
      );
      INSERT INTO audit_state DEFAULT VALUES;
      CREATE INDEX hold_by_time ON hold USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX hold_by_time; DROP TABLE audit_state, audit_checkpoint;`);
  }
}
