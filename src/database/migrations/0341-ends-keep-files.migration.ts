import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The end of a task makes the file that it names last as long as its content. Before, a file lasted from its writing on, and one
 * whose end was never recorded stayed for 14 days.
 */
export class EndsKeepFiles1700000000341 implements MigrationInterface {
  readonly name = 'EndsKeepFiles1700000000341';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(endTelling(BY_KEY, IS_KEPT, KEEP));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(endTelling('', '', ''));
  }
}

/** No plan may read all files, even if it was made while the table was empty. */
const BY_KEY = `
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

/** A file that the sweeper has given up has expired with the epoch. */
const IS_KEPT = `
    IF p_content IS NOT NULL THEN
      PERFORM FROM stored_file
        WHERE account_id = p_account AND id = (p_content ->> 'fileId')::uuid AND state = 'stored' AND expires_at > 'epoch'
        FOR UPDATE;
      IF NOT FOUND THEN
        RETURN false;
      END IF;
    END IF;`;

const KEEP = `
    IF p_content IS NOT NULL THEN
      UPDATE stored_file SET expires_at = (p_content ->> 'expiresAt')::timestamptz
        WHERE account_id = p_account AND id = (p_content ->> 'fileId')::uuid;
    END IF;`;

/** As in 0245. Returns false, and changes nothing, also if the file of p_content is gone. */
const endTelling = (terms: string, isKept: string, keep: string): string => `
  CREATE OR REPLACE FUNCTION task_end_telling(
    p_account uuid, p_id uuid, p_fence bigint, p_from text, p_status text, p_money text, p_charge bigint,
    p_progress smallint, p_memory json, p_result json, p_error_code text, p_error_message text, p_content json,
    p_completed timestamptz, p_watch_lane text, p_watch_ms bigint, p_unsent boolean,
    p_delivery uuid, p_url text, p_origin text, p_sealed_secret text, p_body bytea, p_told timestamptz
  ) RETURNS boolean LANGUAGE plpgsql ${terms} AS $$
  BEGIN
    ${isKept}
    IF NOT task_end(p_account, p_id, p_fence, p_from::text[], p_status, p_money, p_charge, p_progress, p_memory, p_result,
                    p_error_code, p_error_message, p_content, p_completed, p_watch_lane, p_watch_ms, p_unsent) THEN
      RETURN false;
    END IF;
    ${keep}
    IF 'reconciliation_required' = ANY (p_from::text[]) THEN
      UPDATE webhook_delivery
         SET status = 'failed', retry = NULL, due_at = NULL, is_under_way = false, fence = fence + 1
       WHERE account_id = p_account AND owner_id = p_id AND status = 'pending';
    END IF;
    IF p_delivery IS NOT NULL THEN
      PERFORM webhook_enqueue(p_account, p_delivery, p_id, p_url, p_origin, p_sealed_secret, p_body, p_told);
    END IF;
    RETURN true;
  END $$;`;
