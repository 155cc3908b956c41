import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** Failed deliveries are found without a look at the others. It may have been built before, so that no lock is needed. */
export class FailedDeliveries1700000001062 implements SchemaMigration {
  readonly name = 'FailedDeliveries1700000001062';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX IF NOT EXISTS webhook_delivery_failed ON webhook_delivery (id) WHERE status = 'failed'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX webhook_delivery_failed');
  }
}
