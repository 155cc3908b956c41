import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/**
 * PostgreSQL reads the text of each constraint and each condition of a trigger anew in every statement that writes the table, so
 * those of the tables that each call writes are fewer and shorter; what they refuse is the same. What is told of the limit of a
 * run is told by the functions that begin its calls and tasks.
 *
 * A run is no longer looked for by the index of its account, which a plan that was made while the table was empty did.
 */
export class FewerConditions1700000001220 implements SchemaMigration {
  readonly name = 'FewerConditions1700000001220';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [CALLS, ENTRIES, ACCOUNTS, RUNS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('The former constraints are gone: restore a backup'));
  }
}

const CALLS = `
ALTER TABLE execution
  DROP CONSTRAINT execution_check,
  DROP CONSTRAINT execution_check1,
  DROP CONSTRAINT execution_check2,
  DROP CONSTRAINT execution_check3,
  DROP CONSTRAINT execution_held_check,
  DROP CONSTRAINT execution_status_check1,
  DROP CONSTRAINT execution_cost_check,
  DROP CONSTRAINT execution_cost_is_of_an_end,
  ADD CONSTRAINT execution_is_sound CHECK (
  CASE WHEN completed_at IS NULL THEN status = 'running' AND num_nonnulls(charged, refunded, cost) = 0 AND held >= 0
       ELSE status = CASE WHEN charged IS NULL THEN 'failed' ELSE 'succeeded' END
            AND charged >= 0 AND held >= coalesce(charged, 0) AND refunded BETWEEN 1 AND charged
            AND cost BETWEEN 0 AND 1000000000000000 END) NOT VALID`;

const ENTRIES = `
ALTER TABLE ledger_entry
  DROP CONSTRAINT ledger_entry_amount_check,
  DROP CONSTRAINT ledger_entry_balance_after_check,
  DROP CONSTRAINT ledger_entry_check,
  DROP CONSTRAINT ledger_entry_check1,
  DROP CONSTRAINT ledger_entry_check2,
  DROP CONSTRAINT ledger_entry_hold_of_kind,
  DROP CONSTRAINT ledger_entry_reason_of_kind,
  DROP CONSTRAINT ledger_entry_kind_check,
  DROP CONSTRAINT ledger_entry_terms,
  DROP CONSTRAINT ledger_entry_expiry,
  ADD CONSTRAINT ledger_entry_is_sound CHECK (
  amount <> 0 AND balance_after >= 0 AND
  CASE kind
    WHEN 'charge' THEN
      amount < 0 AND hold_id IS NOT NULL
      AND num_nonnulls(refund_key, reason, credit_kind, expires_at, payment_reference, currency, tax, credit_position) = 0
    WHEN 'credit' THEN
      amount > 0 AND credit_kind IN ('paid', 'granted') AND tax >= 0
      AND num_nonnulls(hold_id, refund_key, reason, credit_position) = 0
    WHEN 'correction' THEN
      reason IN ('goodwill', 'fault', 'billing_error') AND (refund_key IS NULL OR hold_id IS NOT NULL)
      AND num_nonnulls(credit_kind, expires_at, payment_reference, currency, tax, credit_position) = 0
    WHEN 'expiry' THEN
      amount < 0 AND credit_position < position
      AND num_nonnulls(hold_id, refund_key, reason, credit_kind, expires_at, payment_reference, currency, tax) = 0
    ELSE false END) NOT VALID`;

/** There are few accounts, so theirs is checked at once. */
const ACCOUNTS = `
ALTER TABLE account
  DROP CONSTRAINT account_check,
  DROP CONSTRAINT account_in_lots,
  DROP CONSTRAINT account_low_balance_check,
  ADD CONSTRAINT account_is_sound CHECK (held >= 0 AND in_lots >= 0 AND low_balance > 0 AND posted >= greatest(held, in_lots))`;

const RUNS = `
DROP TRIGGER run_begins ON run;
DROP TRIGGER run_grows ON run;
DROP FUNCTION run_tell_limit();
DROP INDEX run_of_account;
CREATE INDEX run_of_account ON run (account_id, position) WHERE position > 0`;
