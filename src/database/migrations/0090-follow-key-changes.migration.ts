import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * When each key was last changed, by the database's clock, so that a process can find the changed keys among those that it
 * remembers with one indexed query (API: Authentication; decision G-15).
 */
export class FollowKeyChanges1700000000090 implements MigrationInterface {
  readonly name = 'FollowKeyChanges1700000000090';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE api_key ADD COLUMN changed_at timestamptz NOT NULL DEFAULT clock_timestamp();
      CREATE INDEX api_key_by_change ON api_key (changed_at);
      CREATE FUNCTION api_key_note_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.changed_at := clock_timestamp();
        RETURN NEW;
      END $$;
      CREATE TRIGGER api_key_changed BEFORE UPDATE ON api_key
        FOR EACH ROW EXECUTE FUNCTION api_key_note_change();`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER api_key_changed ON api_key;
      DROP FUNCTION api_key_note_change;
      ALTER TABLE api_key DROP COLUMN changed_at;`);
  }
}
