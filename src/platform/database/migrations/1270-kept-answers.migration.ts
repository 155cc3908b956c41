import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/**
 * Idempotency keys of synchronous calls, and their answers, which are kept for a day. A former version keeps none and ignores the
 * header, as it did.
 */
export class KeptAnswers1700000001270 implements SchemaMigration {
  readonly name = 'KeptAnswers1700000001270';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE call_key (
        account_id uuid NOT NULL,
        endpoint text NOT NULL,
        key text NOT NULL,
        fingerprint bytea NOT NULL,
        execution_id uuid NOT NULL,
        model text NOT NULL,
        lease_until timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        PRIMARY KEY (account_id, endpoint, key)
      )`);
    await runner.query('CREATE INDEX call_key_by_expiry ON call_key (expires_at)');
    await runner.query(`
      CREATE TABLE kept_answer (
        account_id uuid NOT NULL,
        id uuid NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        content_type text NOT NULL,
        headers jsonb NOT NULL,
        bytes integer NOT NULL CHECK (bytes >= 0),
        sealed_answer text NOT NULL,
        PRIMARY KEY (account_id, id)
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
              toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 100)`);
    await runner.query('ALTER TABLE kept_answer ALTER sealed_answer SET STORAGE EXTERNAL');
    await runner.query(
      'CREATE INDEX kept_answer_by_expiry ON kept_answer (expires_at, account_id, id)',
    );
    await runner.query(
      'ALTER TABLE stored_content ADD COLUMN kept_bytes bigint NOT NULL DEFAULT 0 CHECK (kept_bytes >= 0)',
    );
    await runner.query(
      'ALTER TABLE account ADD COLUMN keep_answers boolean NOT NULL DEFAULT false',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE account DROP COLUMN keep_answers');
    await runner.query('ALTER TABLE stored_content DROP COLUMN kept_bytes');
    await runner.query('DROP TABLE kept_answer, call_key');
  }
}
