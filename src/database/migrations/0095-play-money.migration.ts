import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Accounts whose money buys the sandbox's work only (decision G-95): the demo account of a first start. */
export class PlayMoney1700000000095 implements MigrationInterface {
  readonly name = 'PlayMoney1700000000095';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE account ADD COLUMN play_money boolean NOT NULL DEFAULT false;
      UPDATE account a SET play_money = true
       WHERE name = 'demo' AND EXISTS (
         SELECT 1 FROM ledger_entry e
          WHERE e.account_id = a.id AND e.idempotency_key = 'demo' AND e.reference = 'demo credit');`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE account DROP COLUMN play_money');
  }
}
