import type { QueryRunner } from 'typeorm';
import { createLateIndex, type SchemaMigration } from '../schema-migration.js';

/** Failed deliveries are found without a look at the others. Their index may have been built before. */
export class FailedDeliveries1700000001062 implements SchemaMigration {
  readonly name = 'FailedDeliveries1700000001062';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    const on = `webhook_delivery (id) WHERE status = 'failed'`;
    await createLateIndex(runner, 'webhook_delivery_failed', on);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX webhook_delivery_failed');
  }
}
