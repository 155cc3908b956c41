import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** Operators may pause routes, and processes report what they see of them. Version 0.1.0 passes over no paused route. */
export class Routes1700000001165 implements SchemaMigration {
  readonly name = 'Routes1700000001165';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE route_pause (
        provider text NOT NULL,
        upstream_model text NOT NULL,
        until timestamptz NOT NULL,
        reason text NOT NULL,
        actor text NOT NULL,
        paused_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (provider, upstream_model)
      )`);
    await runner.query(`
      CREATE TABLE route_report (
        process_id uuid PRIMARY KEY,
        reported_at timestamptz NOT NULL DEFAULT now(),
        figures jsonb NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE route_report, route_pause');
  }
}
