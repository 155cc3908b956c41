import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The successor of a rotated key begins with what the key's limit has counted, read under the account's lock. Calls that are open
 * at that time count for both keys, and their ends change both counts.
 */
export class LimitsOutliveRotation1700000000207 implements MigrationInterface {
  readonly name = 'LimitsOutliveRotation1700000000207';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
    await runner.query(NOTE);
    await runner.query(PASS_ON);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('The functions before these are gone: restore a backup'));
  }
}

// No plan may read all calls, even if it was made while the tables were empty.
const BY_KEY = `
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

/** Open calls and tasks that also count for a successor of their key, as long as its counter is the one begun at that time. */
const TABLE = `
  CREATE TABLE key_spend_carried (
    account_id uuid NOT NULL,
    id uuid NOT NULL,
    api_key_id uuid NOT NULL,
    begun_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id, api_key_id)
  );`;

const NOTE = `
  CREATE FUNCTION key_note_spend(p_account uuid, p_key uuid, p_id uuid, p_period_start timestamptz, p_amount bigint) RETURNS void
  LANGUAGE plpgsql ${BY_KEY} AS $$
  BEGIN
    IF p_amount <> 0 THEN
      PERFORM key_note_spend(p_account, p_key, p_period_start, p_amount);
      UPDATE key_spend s SET spent = s.spent + p_amount
        FROM key_spend_carried c
       WHERE c.account_id = p_account AND c.id = p_id AND s.account_id = p_account AND s.api_key_id = c.api_key_id
         AND s.begun_at = c.begun_at AND s.period_start = p_period_start;
    END IF;
  END $$;

  CREATE OR REPLACE FUNCTION execution_note_spend() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    counts bigint := CASE NEW.status WHEN 'running' THEN NEW.held WHEN 'succeeded' THEN NEW.charged ELSE 0 END;
    counted bigint := 0;
  BEGIN
    IF OLD.spend_period = NEW.spend_period THEN
      counted := CASE OLD.status WHEN 'running' THEN OLD.held WHEN 'succeeded' THEN OLD.charged ELSE 0 END;
    END IF;
    PERFORM key_note_spend(NEW.account_id, NEW.api_key_id, NEW.id, NEW.spend_period, counts - counted);
    RETURN NULL;
  END $$;

  CREATE OR REPLACE FUNCTION task_note_spend() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    counts bigint := CASE WHEN NEW.status = 'succeeded' THEN NEW.charged
                          WHEN NEW.status IN ('failed', 'expired') THEN 0 ELSE NEW.reserved END;
    counted bigint := 0;
  BEGIN
    IF OLD.spend_period = NEW.spend_period THEN
      counted := CASE WHEN OLD.status = 'succeeded' THEN OLD.charged
                      WHEN OLD.status IN ('failed', 'expired') THEN 0 ELSE OLD.reserved END;
    END IF;
    PERFORM key_note_spend(NEW.account_id, NEW.api_key_id, NEW.id, NEW.spend_period, counts - counted);
    RETURN NULL;
  END $$;`;

/**
 * Locks are taken in the order key, account. If the counter of the key cannot begin yet (its terms are younger than three
 * seconds, or a task is just ending), what is held counts for the successor as if it were spent.
 */
const PASS_ON = `
  CREATE FUNCTION key_pass_on(p_account uuid, p_key uuid, p_successor uuid) RETURNS void
  LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    counted_in timestamptz;
    terms record;
    known key_spend;
    begun timestamptz;
  BEGIN
    PERFORM FROM account WHERE id = p_account FOR NO KEY UPDATE;
    begun := clock_timestamp();
    SELECT spend_limit, spend_limit_period AS period, key_period_start(spend_limit_period, begun) AS start
      INTO terms FROM api_key WHERE id = p_key;
    IF terms.spend_limit IS NULL THEN
      RETURN;
    END IF;
    SELECT counts_in INTO counted_in FROM key_room(p_account, p_key);
    IF counted_in IS NULL THEN
      INSERT INTO key_spend (account_id, api_key_id, period, period_start, spent, begun_at)
        VALUES (p_account, p_successor, terms.period, terms.start, key_spent(p_account, p_key, terms.start), begun);
      RETURN;
    END IF;
    SELECT * INTO known FROM key_spend WHERE account_id = p_account AND api_key_id = p_key;
    INSERT INTO key_spend (account_id, api_key_id, period, period_start, spent, begun_at)
      VALUES (p_account, p_successor, known.period, known.period_start, known.spent, begun);
    DELETE FROM key_spend_carried c
     WHERE c.account_id = p_account
       AND NOT EXISTS (SELECT FROM execution e WHERE e.account_id = c.account_id AND e.id = c.id AND e.status = 'running')
       AND NOT EXISTS (SELECT FROM task t WHERE t.account_id = c.account_id AND t.id = c.id
                          AND t.status IN ('queued', 'processing', 'reconciliation_required'));
    INSERT INTO key_spend_carried (account_id, id, api_key_id, begun_at)
      SELECT p_account, id, p_successor, begun FROM key_unfolded(p_account, p_key) WHERE is_open
      UNION
      SELECT account_id, id, p_successor, begun FROM key_spend_carried
       WHERE account_id = p_account AND api_key_id = p_key AND begun_at = known.begun_at;
  END $$;`;
