import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The secret keys that processes of this database have had: the id of each, and a text that it has sealed, by which a start
 * knows whether its list has the key.
 */
export class SealingKeys1700000000473 implements MigrationInterface {
  readonly name = 'SealingKeys1700000000473';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE sealing_key (
        key_id text PRIMARY KEY,
        check_value text NOT NULL,
        first_seen_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE sealing_key');
  }
}
