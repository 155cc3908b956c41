import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

const TABLES = `
CREATE TABLE stored_content (
  account_id uuid PRIMARY KEY,
  bytes bigint NOT NULL CHECK (bytes >= 0)
) WITH (fillfactor = 50);
CREATE TABLE stored_item (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  lists integer NOT NULL CHECK (lists > 0),
  listed_until timestamptz NOT NULL,
  bytes integer NOT NULL,
  sealed_item text NOT NULL,
  PRIMARY KEY (account_id, id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 100);
CREATE TABLE stored_response (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  items uuid[] NOT NULL,
  output_items integer NOT NULL CHECK (output_items >= 0),
  bytes integer NOT NULL,
  sealed_response text NOT NULL,
  PRIMARY KEY (account_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 100);
ALTER TABLE stored_item ALTER sealed_item SET STORAGE EXTERNAL;
ALTER TABLE stored_response ALTER sealed_response SET STORAGE EXTERNAL;
CREATE INDEX stored_response_by_age ON stored_response (id, account_id);
CREATE INDEX stored_response_by_expiry ON stored_response (expires_at, account_id, id)`;

/** Responses are stored, with the items of their conversations. */
export class StoredResponses1700000001056 implements SchemaMigration {
  readonly name = 'StoredResponses1700000001056';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE stored_response, stored_item, stored_content');
  }
}
