import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * One function for the end of a task and its webhook, so that the ends of many tasks can share a statement. With a transaction
 * for each end, the ends of one account waited for each other and occupied the connections that polls and claims needed.
 */
export class EndsShareAStatement1700000000225 implements MigrationInterface {
  readonly name = 'EndsShareAStatement1700000000225';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(ENQUEUE);
    await runner.query(END);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION task_end_telling, webhook_enqueue');
  }
}

/** Adds a delivery that is due at once. */
const ENQUEUE = `
  CREATE FUNCTION webhook_enqueue(
    p_account uuid, p_id uuid, p_owner uuid, p_url text, p_origin text, p_sealed_secret text, p_body bytea,
    p_created timestamptz
  ) RETURNS void LANGUAGE sql AS $$
    INSERT INTO webhook_delivery (account_id, id, owner_id, url, origin, sealed_secret, body, due_at, created_at)
      VALUES (p_account, p_id, p_owner, p_url, p_origin, p_sealed_secret, p_body, now(), p_created)
  $$;`;

/**
 * Calls task_end, and adds the delivery of the webhook if the task has one (p_delivery). p_from is the text of an array, because
 * a statement that ends many tasks passes an array of them. Returns false, and changes nothing, if the guard refused.
 */
const END = `
  CREATE FUNCTION task_end_telling(
    p_account uuid, p_id uuid, p_fence bigint, p_from text, p_status text, p_money text, p_charge bigint,
    p_progress smallint, p_memory json, p_result json, p_error_code text, p_error_message text, p_content json,
    p_completed timestamptz, p_watch_lane text, p_watch_ms bigint, p_unsent boolean,
    p_delivery uuid, p_url text, p_origin text, p_sealed_secret text, p_body bytea, p_told timestamptz
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT task_end(p_account, p_id, p_fence, p_from::text[], p_status, p_money, p_charge, p_progress, p_memory, p_result,
                    p_error_code, p_error_message, p_content, p_completed, p_watch_lane, p_watch_ms, p_unsent) THEN
      RETURN false;
    END IF;
    IF p_delivery IS NOT NULL THEN
      PERFORM webhook_enqueue(p_account, p_delivery, p_id, p_url, p_origin, p_sealed_secret, p_body, p_told);
    END IF;
    RETURN true;
  END $$;`;
