import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Usage counts what was charged for a task that was delivered late (0450) on the day on which it was charged: the task itself
 * counts as it first ended, and may have been summed up long before.
 */
export class UsageOfLateCharges1700000000479 implements MigrationInterface {
  readonly name = 'UsageOfLateCharges1700000000479';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(GIVEN_BACK + LATE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(GIVEN_BACK);
  }
}

/** As in 0472. A refund of a late charge leaves the day of that charge. */
const GIVEN_BACK = `
  CREATE OR REPLACE VIEW usage_given_back AS
    SELECT l.account_id, l.created_at, coalesce(c.api_key_id, r.api_key_id, '00000000-0000-0000-0000-000000000000') AS api_key_id,
           coalesce(c.model, r.model, '') AS model, coalesce(c.endpoint, r.endpoint, '') AS endpoint,
           -l.amount AS charged, coalesce(p.charged_at, c.ended_at, r.charged_at) AS reversed_at
      FROM ledger_entry l
      LEFT JOIN LATERAL (
        SELECT * FROM usage_call u WHERE u.account_id = l.account_id AND u.id = l.hold_id OFFSET 0) c ON true
      LEFT JOIN late_reversal r ON r.account_id = l.account_id AND r.id = l.hold_id
      LEFT JOIN late_charge p ON p.account_id = l.account_id AND p.id = l.hold_id
     WHERE l.kind = 'correction' AND l.hold_id IS NOT NULL`;

/** usage_fold takes what is given back from the limit's count, and adds it again at reversed_at: so a charge counts once. */
const LATE = `
    UNION ALL
    SELECT account_id, charged_at, api_key_id, model, endpoint, charged, charged_at FROM late_charge`;
