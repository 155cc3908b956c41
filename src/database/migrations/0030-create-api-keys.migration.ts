import type { MigrationInterface, QueryRunner } from 'typeorm';

/** API keys, by the SHA-256 of their text (API: Authentication; decision G-15). */
export class CreateApiKeys1700000000030 implements MigrationInterface {
  readonly name = 'CreateApiKeys1700000000030';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE api_key (
        id uuid PRIMARY KEY,
        account_id uuid NOT NULL,
        name text,
        prefix text NOT NULL,
        hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
        allowed_models text[],
        requests_per_minute integer CHECK (requests_per_minute > 0),
        expires_at timestamptz,
        revoked_at timestamptz,
        created_at timestamptz NOT NULL
      );
      CREATE INDEX api_key_of_account ON api_key (account_id, id);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE api_key`);
  }
}
