import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Disabled accounts, the last use of keys, and limits of what a key may spend (decision G-99). */
export class OperateKeys1700000000160 implements MigrationInterface {
  readonly name = 'OperateKeys1700000000160';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE account ADD COLUMN disabled boolean NOT NULL DEFAULT false;
      CREATE INDEX account_by_name ON account (lower(name) text_pattern_ops, id);

      -- Apart from api_key, whose every change is told to all processes.
      CREATE TABLE api_key_use (
        api_key_id uuid PRIMARY KEY,
        last_used_at timestamptz NOT NULL
      ) WITH (fillfactor = 50);

      ALTER TABLE api_key
        ADD COLUMN spend_limit bigint CHECK (spend_limit >= 0),
        ADD COLUMN spend_limit_period text CHECK (spend_limit_period IN ('day', 'month', 'total')),
        ADD COLUMN spend_limit_since timestamptz,
        ADD CHECK ((spend_limit IS NULL) = (spend_limit_period IS NULL));`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE api_key DROP COLUMN spend_limit, DROP COLUMN spend_limit_period, DROP COLUMN spend_limit_since;
      DROP TABLE api_key_use;
      DROP INDEX account_by_name;
      ALTER TABLE account DROP COLUMN disabled;`);
  }
}
