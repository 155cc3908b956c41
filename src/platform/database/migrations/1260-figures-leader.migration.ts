import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** One process publishes the figures of the whole database. Former versions know no such process and publish by themselves. */
export class FiguresLeader1700000001260 implements SchemaMigration {
  readonly name = 'FiguresLeader1700000001260';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE figures_leader (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        process_id uuid NOT NULL,
        until timestamptz NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE figures_leader');
  }
}
