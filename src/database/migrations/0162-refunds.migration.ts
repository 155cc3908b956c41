import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Operators give the charge of a call back, once. */
export class Refunds1700000000162 implements MigrationInterface {
  readonly name = 'Refunds1700000000162';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE execution ADD COLUMN refunded bigint CHECK (refunded BETWEEN 1 AND charged);`,
    );
    await runner.query(REFUND);
    await runner.query(CANCEL);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Refunds fit no older table: restore a backup'));
  }
}

/**
 * Gives the charge of a call back as a correction linked to it. Outcomes: refunded, repeated (it was done before), uncharged,
 * missing (no such call of the account). `entry` is the position of the entry, null unless refunded.
 */
const REFUND = `
  CREATE FUNCTION execution_refund(p_account uuid, p_id uuid, p_note text, OUT outcome text, OUT entry bigint)
  LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
  DECLARE
    balance bigint;
    known execution;
  BEGIN
    SELECT posted INTO balance FROM account WHERE id = p_account FOR NO KEY UPDATE;
    SELECT * INTO known FROM execution WHERE account_id = p_account AND id = p_id;
    IF NOT FOUND THEN
      outcome := 'missing';
    ELSIF known.refunded IS NOT NULL THEN
      outcome := 'repeated';
    ELSIF coalesce(known.charged, 0) = 0 THEN
      outcome := 'uncharged';
    ELSE
      UPDATE execution SET refunded = charged WHERE account_id = p_account AND id = p_id;
      UPDATE account SET posted = posted + known.charged WHERE id = p_account;
      INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference)
        VALUES (p_account, p_id, 'correction', known.charged, balance + known.charged, p_note)
        RETURNING position INTO entry;
      outcome := 'refunded';
    END IF;
  END $$;`;

/** As before, but a charge that an operator gave back is not given back again. */
const CANCEL = `
  CREATE OR REPLACE FUNCTION execution_cancel(
    p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text, p_error_code text, p_provider text,
    p_provider_request_id text
  ) RETURNS text LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
  DECLARE
    balance bigint;
    known execution;
  BEGIN
    SELECT posted INTO balance FROM account WHERE id = p_account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RETURN 'missing';
    END IF;
    SELECT * INTO known FROM execution WHERE account_id = p_account AND id = p_id;
    IF NOT FOUND THEN
      INSERT INTO execution (account_id, id, api_key_id, held, model, endpoint, status, completed_at, error_code)
        VALUES (p_account, p_id, p_api_key, 0, p_model, p_endpoint, 'failed', now(), p_error_code);
      RETURN 'cancelled';
    ELSIF known.status = 'failed' THEN
      RETURN 'nothing';
    END IF;
    UPDATE execution
       SET status = 'failed', charged = NULL, refunded = NULL, error_code = p_error_code,
           completed_at = coalesce(completed_at, now()), provider = coalesce(p_provider, provider),
           provider_request_id = coalesce(p_provider_request_id, provider_request_id)
     WHERE account_id = p_account AND id = p_id;
    IF known.status = 'running' THEN
      UPDATE account SET held = held - known.held WHERE id = p_account;
      RETURN 'released';
    END IF;
    IF known.charged > coalesce(known.refunded, 0) THEN
      INSERT INTO ledger_entry (account_id, hold_id, kind, amount, balance_after, reference)
        VALUES (p_account, p_id, 'correction', known.charged, balance + known.charged, 'reversal');
      UPDATE account SET posted = posted + known.charged WHERE id = p_account;
    END IF;
    RETURN 'reversed';
  END $$;`;
