import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Marks the accounts of a gateway that never had work done by a provider as play money (decision G-110): all that they ever
 * bought was the sandbox's. Where old records were dropped, nobody knows what they bought, so nothing is marked.
 */
export class PlayMoneyOfSandboxes1700000000470 implements MigrationInterface {
  readonly name = 'PlayMoneyOfSandboxes1700000000470';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE account SET play_money = true
       WHERE NOT play_money
         AND NOT EXISTS (SELECT FROM execution WHERE provider <> 'sandbox')
         AND NOT EXISTS (SELECT FROM task WHERE NOT on_sandbox)
         AND NOT EXISTS (SELECT FROM dropped_record)`);
  }

  async down(): Promise<void> {
    // Which accounts were marked is not kept.
  }
}
