import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * An idempotency key also keeps a fingerprint of the body as it was sent, so that a replay is known before the checks that
 * depend on its model, which may have been disabled since (decision G-86).
 */
export class ReplaysBeforeModels1700000000452 implements MigrationInterface {
  readonly name = 'ReplaysBeforeModels1700000000452';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE idempotency_key ADD COLUMN sent_fingerprint bytea`);
    await runner.query(CLAIM);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION idempotency_claim_sent;
      ALTER TABLE idempotency_key DROP COLUMN sent_fingerprint;`);
  }
}

/** As idempotency_claim (0060). Whoever gets the claim notes p_sent, the fingerprint of the body as it was sent. */
const CLAIM = `
  CREATE FUNCTION idempotency_claim_sent(
    p_account uuid, p_endpoint text, p_key text, p_fingerprints bytea[], p_token uuid, p_lease_ms integer, p_sent bytea,
    OUT outcome text, OUT task uuid
  ) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
  BEGIN
    SELECT c.outcome, c.task INTO outcome, task
      FROM idempotency_claim(p_account, p_endpoint, p_key, p_fingerprints, p_token, p_lease_ms) c;
    IF outcome = 'claimed' THEN
      UPDATE idempotency_key SET sent_fingerprint = p_sent
       WHERE account_id = p_account AND endpoint = p_endpoint AND key = p_key AND token = p_token;
    END IF;
  END $$;`;
