import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The charge of a dropped record that is given back also leaves the usage and the limit of its key. Before, only the account
 * got it back: usage gave it to no key and no model, and the limit of the key stayed spent.
 */
export class LateReversals1700000000350 implements MigrationInterface {
  readonly name = 'LateReversals1700000000350';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
    await runner.query(NOTE);
    await runner.query(CANCEL_CALL);
    await runner.query(CANCEL_TASK);
    await runner.query(viewOf('r.'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(viewOf('NULL::'));
    await runner.query(`
      DROP FUNCTION task_cancel(uuid, uuid, uuid, text, text), execution_cancel;
      ALTER FUNCTION execution_cancel_record RENAME TO execution_cancel;
      DROP FUNCTION record_note_late_reversal;
      DROP TABLE late_reversal;`);
  }
}

const ZERO = `'00000000-0000-0000-0000-000000000000'::uuid`;

/** Whose charge was given back after its record had been dropped, and when it was made. */
const TABLE = `
  CREATE TABLE late_reversal (
    account_id uuid NOT NULL,
    id uuid NOT NULL,
    api_key_id uuid,
    model text NOT NULL,
    endpoint text NOT NULL,
    charged_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id)
  );`;

/**
 * Notes a charge that was given back, if its record is gone; its account is locked. A limit is freed in the period that the call
 * counted in, as the end of a call that is still recorded does it.
 */
const NOTE = `
  CREATE FUNCTION record_note_late_reversal(
    p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text
  ) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
    SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  DECLARE
    paid bigint;
  BEGIN
    INSERT INTO late_reversal (account_id, id, api_key_id, model, endpoint, charged_at)
      SELECT p_account, p_id, p_api_key, p_model, p_endpoint, c.created_at
        FROM ledger_entry c
        JOIN ledger_entry b ON b.account_id = p_account AND b.hold_id = p_id AND b.kind = 'correction' AND b.hold_id IS NOT NULL
       WHERE c.account_id = p_account AND c.hold_id = p_id AND c.kind = 'charge'
         AND NOT EXISTS (SELECT FROM execution WHERE account_id = p_account AND id = p_id)
         AND NOT EXISTS (SELECT FROM task WHERE account_id = p_account AND id = p_id)
      ON CONFLICT DO NOTHING;
    IF FOUND THEN
      SELECT -amount INTO paid FROM ledger_entry WHERE account_id = p_account AND hold_id = p_id AND kind = 'charge';
      UPDATE key_spend SET spent = spent - paid
       WHERE account_id = p_account AND api_key_id = p_api_key AND p_id >= first_id_since(period_start);
    END IF;
  END $$;`;

/** As before (0240), and the usage and limit of the key are told. */
const CANCEL_CALL = `
  ALTER FUNCTION execution_cancel RENAME TO execution_cancel_record;
  CREATE FUNCTION execution_cancel(
    p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text, p_error_code text, p_provider text,
    p_provider_request_id text
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    outcome text := execution_cancel_record(
      p_account, p_id, p_api_key, p_model, p_endpoint, p_error_code, p_provider, p_provider_request_id);
  BEGIN
    IF outcome = 'reversed' THEN
      PERFORM record_note_late_reversal(p_account, p_id, p_api_key, p_model, p_endpoint);
    END IF;
    RETURN outcome;
  END $$;`;

/** The journal of an earlier version does not say what the task was: its key, model and kind are null. */
const CANCEL_TASK = `
  CREATE FUNCTION task_cancel(p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_kind text) RETURNS text
  LANGUAGE plpgsql AS $$
  DECLARE
    outcome text := task_cancel(p_account, p_id);
  BEGIN
    IF outcome = 'reversed' AND p_kind IS NOT NULL THEN
      PERFORM record_note_late_reversal(p_account, p_id, p_api_key, p_model,
        CASE p_kind WHEN 'dubbing' THEN '/v1/audio/dubbing' WHEN 'song' THEN '/v1/music/generations'
                    WHEN 'video' THEN '/v1/videos' ELSE p_kind END);
    END IF;
    RETURN outcome;
  END $$;`;

/** As before (0206); a record that is gone is known by its late reversal. */
const viewOf = (late: 'r.' | 'NULL::') => {
  const field = (name: string, type: string) => (late === 'r.' ? `r.${name}` : `NULL::${type}`);
  return `
  CREATE OR REPLACE VIEW usage_given_back AS
    SELECT l.account_id, l.created_at, coalesce(c.api_key_id, ${field('api_key_id', 'uuid')}, ${ZERO}) AS api_key_id,
           coalesce(c.model, ${field('model', 'text')}, '') AS model, coalesce(c.endpoint, ${field('endpoint', 'text')}, '') AS endpoint,
           -l.amount AS charged,
           CASE WHEN c.is_failed THEN c.ended_at ELSE ${field('charged_at', 'timestamptz')} END AS reversed_at
      FROM ledger_entry l
      LEFT JOIN LATERAL (
        SELECT * FROM usage_call u WHERE u.account_id = l.account_id AND u.id = l.hold_id OFFSET 0) c ON true
      ${late === 'r.' ? 'LEFT JOIN late_reversal r ON r.account_id = l.account_id AND r.id = l.hold_id' : ''}
     WHERE l.kind = 'correction' AND l.hold_id IS NOT NULL;`;
};
