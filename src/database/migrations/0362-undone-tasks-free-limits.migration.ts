import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The charge of a task whose submission was answered with an error is free again in the limits of its key and of the key's
 * successors, as that of a call, and as that of a task whose record is gone (0350). Before, it was given back like a refund,
 * which frees no limit.
 */
export class UndoneTasksFreeLimits1700000000362 implements MigrationInterface {
  readonly name = 'UndoneTasksFreeLimits1700000000362';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(NOTE);
  }

  /** The function stays: processes of the former version call it in the same way. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * As in 0350, but also for a task that is recorded, so `late_reversal` holds such tasks too: the row stays as its holder sees
 * it, and nothing else frees the limit. The end of a call that is recorded does it by itself.
 */
const NOTE = `
  CREATE OR REPLACE FUNCTION record_note_late_reversal(
    p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text
  ) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
    SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  DECLARE
    paid bigint;
    counted_in timestamptz;
  BEGIN
    INSERT INTO late_reversal (account_id, id, api_key_id, model, endpoint, charged_at)
      SELECT p_account, p_id, p_api_key, p_model, p_endpoint, c.created_at
        FROM ledger_entry c
        JOIN ledger_entry b ON b.account_id = p_account AND b.hold_id = p_id AND b.kind = 'correction' AND b.hold_id IS NOT NULL
       WHERE c.account_id = p_account AND c.hold_id = p_id AND c.kind = 'charge'
         AND NOT EXISTS (SELECT FROM execution WHERE account_id = p_account AND id = p_id)
      ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RETURN;
    END IF;
    SELECT -amount INTO paid FROM ledger_entry WHERE account_id = p_account AND hold_id = p_id AND kind = 'charge';
    SELECT spend_period INTO counted_in FROM task WHERE account_id = p_account AND id = p_id;
    IF FOUND THEN
      PERFORM key_note_spend(p_account, p_api_key, p_id, counted_in, -paid);
    ELSE
      UPDATE key_spend SET spent = spent - paid
       WHERE account_id = p_account AND api_key_id = p_api_key AND p_id >= first_id_since(period_start);
    END IF;
  END $$;`;
