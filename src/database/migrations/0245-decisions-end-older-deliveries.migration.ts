import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * When an operator decides on a task, the webhook about its unknown outcome may still be waiting for its receiver. It is not
 * tried again, because after the decision it would tell the receiver a state that is over.
 */
export class DecisionsEndOlderDeliveries1700000000245 implements MigrationInterface {
  readonly name = 'DecisionsEndOlderDeliveries1700000000245';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(endTelling(OVERTAKE));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(endTelling(''));
  }
}

/** A running attempt is still logged, but has no effect. */
const OVERTAKE = `
    IF 'reconciliation_required' = ANY (p_from::text[]) THEN
      UPDATE webhook_delivery
         SET status = 'failed', retry = NULL, due_at = NULL, is_under_way = false, fence = fence + 1
       WHERE account_id = p_account AND owner_id = p_id AND status = 'pending';
    END IF;`;

/** Calls task_end, and adds the delivery of the webhook if the task has one (p_delivery), as in 0225. */
const endTelling = (overtake: string): string => `
  CREATE OR REPLACE FUNCTION task_end_telling(
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
    ${overtake}
    IF p_delivery IS NOT NULL THEN
      PERFORM webhook_enqueue(p_account, p_delivery, p_id, p_url, p_origin, p_sealed_secret, p_body, p_told);
    END IF;
    RETURN true;
  END $$;`;
