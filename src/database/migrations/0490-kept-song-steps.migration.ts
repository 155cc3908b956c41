import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the provider answered to a paid step before a song operation, for the same step of the same account. `upstream` is the
 * provider and its base URL, `digest` the SHA-256 of the step's request, `memory` what the operation needs of the answer. It has
 * no foreign key, because that would wait for the lock of the account.
 */
export class KeptSongSteps1700000000490 implements MigrationInterface {
  readonly name = 'KeptSongSteps1700000000490';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE kept_song_step (
        account_id uuid NOT NULL,
        upstream text NOT NULL,
        digest text NOT NULL,
        memory jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (account_id, upstream, digest)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE kept_song_step');
  }
}
