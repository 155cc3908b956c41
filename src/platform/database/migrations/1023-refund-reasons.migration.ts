import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** Refunds and corrections have a reason. No entry is read or rewritten; those that are there have none. */
export class RefundReasons1700000001023 implements SchemaMigration {
  readonly name = 'RefundReasons1700000001023';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(REASON);
    // Called by functions only, which the schema files replace in this transaction.
    await runner.query('DROP FUNCTION charge_refund(uuid, uuid, bigint, text, text)');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Reasons fit no older table: restore a backup'));
  }
}

const REASON = `
  ALTER TABLE ledger_entry ADD COLUMN reason text, ADD CONSTRAINT ledger_entry_reason_of_kind
    CHECK (reason IS NULL OR (kind = 'correction' AND reason IN ('goodwill', 'fault', 'billing_error'))) NOT VALID`;
