import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The files in the store (docs/adr/0013). A row is written before the first byte of its file and deleted after the file, so that
 * the sweeper finds a row for every file.
 */
export class CreateStoredFiles1700000000080 implements MigrationInterface {
  readonly name = 'CreateStoredFiles1700000000080';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE stored_file (
        account_id uuid NOT NULL,
        id uuid NOT NULL,
        owner_id uuid NOT NULL,
        state text NOT NULL DEFAULT 'writing' CHECK (state IN ('writing', 'stored')),
        content_type text NOT NULL,
        size_bytes bigint CHECK (size_bytes >= 0),
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        PRIMARY KEY (account_id, id),
        CHECK ((state = 'stored') = (size_bytes IS NOT NULL))
      );
      CREATE INDEX stored_file_by_expiry ON stored_file (expires_at, account_id, id) WHERE state = 'stored';
      CREATE INDEX stored_file_writing ON stored_file (created_at, account_id, id) WHERE state = 'writing';`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE stored_file');
  }
}
