import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Credits and corrections are found among millions of charges. Charges are not in this index, so a call costs the same. */
export class OtherEntries1700000000285 implements MigrationInterface {
  readonly name = 'OtherEntries1700000000285';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX ledger_entry_other ON ledger_entry (account_id, position) WHERE kind <> 'charge'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX ledger_entry_other');
  }
}
