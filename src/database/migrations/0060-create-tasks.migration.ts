import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tasks, the work that remains on them, idempotency keys, and the functions that change them (API: Task states;
 * decisions G-53, G-86).
 *
 * A row of `task` is wide and stays. A row of `task_work` is narrow and rewritten by every poll; it is deleted when no work
 * remains, so that finished tasks do not slow a worker's statements. `due_at` is the time when the next step may begin or,
 * while a step runs, when its lease ends. `fence` counts the claims: a worker's report counts only if its fence is the newest.
 * Locks are taken in the order key, work, task, account.
 */
export class CreateTasks1700000000060 implements MigrationInterface {
  readonly name = 'CreateTasks1700000000060';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(SUBMIT);
    await runner.query(CLAIM);
    await runner.query(ADVANCE);
    await runner.query(END);
    await runner.query(IDEMPOTENCY_CLAIM);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION idempotency_claim, task_end, task_advance, task_claim, task_submit;
      DROP TABLE idempotency_key, task_work, task;`);
  }
}

// json, not jsonb, because json keeps the order of keys: a webhook's body is made before this is written and the answer of GET
// after it is read, and both must be equal.
const TABLES = `
  CREATE TABLE task (
    account_id uuid NOT NULL,
    id uuid NOT NULL,
    api_key_id uuid,
    kind text NOT NULL,
    modality text NOT NULL,
    model text NOT NULL,
    client_request_id text,
    status text NOT NULL DEFAULT 'queued'
      CHECK (status IN ('queued', 'processing', 'succeeded', 'failed', 'expired', 'reconciliation_required')),
    progress smallint CHECK (progress BETWEEN 0 AND 100),
    sealed_input text,
    details json NOT NULL,
    memory json NOT NULL DEFAULT '{}',
    provider text NOT NULL,
    provider_base_url text NOT NULL,
    on_sandbox boolean NOT NULL,
    upstream_model text NOT NULL,
    provider_job_id text,
    found json,
    result json,
    error_code text,
    error_message text,
    reserved bigint NOT NULL CHECK (reserved > 0),
    charged bigint CHECK (charged BETWEEN 0 AND reserved),
    content json,
    webhook_url text,
    webhook_secret text,
    evidence_status text,
    evidence_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz,
    PRIMARY KEY (account_id, id),
    CHECK ((status IN ('queued', 'processing')) = (completed_at IS NULL)),
    CHECK ((status = 'succeeded') = (charged IS NOT NULL)),
    CHECK ((status = 'succeeded') = (result IS NOT NULL)),
    CHECK ((status = 'failed') = (error_code IS NOT NULL))
  ) WITH (fillfactor = 80);
  CREATE INDEX task_by_id ON task (id);
  CREATE INDEX task_by_status ON task (status, id);
  CREATE INDEX task_of_account_by_status ON task (account_id, status, id);

  CREATE TABLE task_work (
    account_id uuid NOT NULL,
    task_id uuid NOT NULL,
    lane text NOT NULL,
    phase text NOT NULL CHECK (phase IN ('waiting', 'submitting', 'polling', 'collecting', 'watching')),
    due_at timestamptz NOT NULL DEFAULT now(),
    fence bigint NOT NULL DEFAULT 0,
    strikes smallint NOT NULL DEFAULT 0,
    submits integer NOT NULL DEFAULT 0,
    put_offs integer NOT NULL DEFAULT 0,
    put_off_at timestamptz,
    PRIMARY KEY (account_id, task_id)
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
  CREATE INDEX task_work_due ON task_work (lane, due_at);

  CREATE TABLE idempotency_key (
    account_id uuid NOT NULL,
    endpoint text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    token uuid NOT NULL,
    task_id uuid,
    lease_until timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, endpoint, key)
  );
  CREATE INDEX idempotency_key_unbound ON idempotency_key (lease_until) WHERE task_id IS NULL;`;

// No plan may read all tasks, even if it was made while the tables were empty.
const BY_KEY = `
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off`;

/**
 * Writes key, hold, task and its first work in one transaction. Outcomes: created (also when it was done before), claim_lost
 * (another request has the claim on the key now), insufficient, conflict, missing (no such account).
 */
const SUBMIT = `
  CREATE FUNCTION task_submit(
    p_account uuid, p_id uuid, p_api_key uuid, p_kind text, p_modality text, p_model text, p_client_request text,
    p_input text, p_details json, p_provider text, p_base_url text, p_on_sandbox boolean, p_upstream_model text, p_lane text, p_amount bigint,
    p_webhook_url text, p_webhook_secret text, p_endpoint text, p_key text, p_token uuid,
    OUT outcome text, OUT created timestamptz
  ) LANGUAGE plpgsql ${BY_KEY} AS $$
  BEGIN
    IF p_key IS NOT NULL THEN
      PERFORM FROM idempotency_key
        WHERE account_id = p_account AND endpoint = p_endpoint AND key = p_key AND token = p_token FOR UPDATE;
      IF NOT FOUND THEN
        outcome := 'claim_lost';
        RETURN;
      END IF;
    END IF;
    SELECT created_at INTO created FROM task WHERE account_id = p_account AND id = p_id;
    IF FOUND THEN
      outcome := 'created';
      RETURN;
    END IF;

    outcome := ledger_hold(p_account, p_id, p_amount, 'task');
    IF outcome <> 'held' THEN
      RETURN;
    END IF;
    INSERT INTO task (account_id, id, api_key_id, kind, modality, model, client_request_id, sealed_input, details, provider,
                      provider_base_url, on_sandbox, upstream_model, reserved, webhook_url, webhook_secret)
      VALUES (p_account, p_id, p_api_key, p_kind, p_modality, p_model, p_client_request, p_input, p_details, p_provider,
              p_base_url, p_on_sandbox, p_upstream_model, p_amount, p_webhook_url, p_webhook_secret)
      RETURNING created_at INTO created;
    INSERT INTO task_work (account_id, task_id, lane, phase) VALUES (p_account, p_id, p_lane, 'waiting');
    IF p_key IS NOT NULL THEN
      UPDATE idempotency_key SET task_id = p_id WHERE account_id = p_account AND endpoint = p_endpoint AND key = p_key;
    END IF;
    outcome := 'created';
  END $$;`;

/**
 * Claims due work, the longest due first, and of each lane only as much as fits its room. A lane is 'step/provider'. p_steps and
 * p_step_rooms give the room of each step; p_lanes names the lanes that have another room. Work in p_mine is not claimed,
 * because the asking process still does it: its lease ended while the database could not be reached.
 */
const CLAIM = `
  CREATE FUNCTION task_claim(
    p_steps text[], p_step_rooms integer[], p_lanes text[], p_rooms integer[], p_mine uuid[], p_lease_ms integer
  ) RETURNS TABLE (account_id uuid, task_id uuid, phase text, fence bigint, strikes smallint, submits integer,
                   put_offs integer, put_off_ms double precision)
  LANGUAGE plpgsql ${BY_KEY} AS $$
  #variable_conflict use_column
  DECLARE
    this_lane text := (SELECT w.lane FROM task_work w ORDER BY w.lane LIMIT 1);
    room integer;
  BEGIN
    WHILE this_lane IS NOT NULL LOOP
      room := coalesce(
        (SELECT r.room FROM unnest(p_lanes, p_rooms) r (lane, room) WHERE r.lane = this_lane),
        (SELECT r.room FROM unnest(p_steps, p_step_rooms) r (step, room) WHERE r.step = split_part(this_lane, '/', 1)),
        1);
      IF room > 0 THEN
        RETURN QUERY
        WITH due AS MATERIALIZED (
          SELECT w.account_id, w.task_id FROM task_work w
           WHERE w.lane = this_lane AND w.due_at <= now() AND w.task_id <> ALL (p_mine)
           ORDER BY w.due_at LIMIT room FOR UPDATE SKIP LOCKED
        )
        UPDATE task_work w
           SET fence = w.fence + 1, due_at = now() + p_lease_ms * interval '1 millisecond'
          FROM due d WHERE w.account_id = d.account_id AND w.task_id = d.task_id
        RETURNING w.account_id, w.task_id, w.phase, w.fence, w.strikes, w.submits, w.put_offs,
                  (extract(epoch FROM now() - w.put_off_at) * 1000)::double precision;
      END IF;
      this_lane := (SELECT w.lane FROM task_work w WHERE w.lane > this_lane ORDER BY w.lane LIMIT 1);
    END LOOP;
  END $$;`;

/**
 * Stores the reports of workers about tasks that have not ended: the next step of each and its time, and facts of the task if
 * there are any: status, progress, memory, job_id, base_url, found, evidence. Returns the tasks whose fence was the newest;
 * the others are not changed. Where the phase is null, it stays and only the lease is renewed.
 */
const ADVANCE = `
  CREATE FUNCTION task_advance(
    p_accounts uuid[], p_ids uuid[], p_fences bigint[], p_lanes text[], p_phases text[], p_delays_ms bigint[],
    p_strikes smallint[], p_facts json[]
  ) RETURNS SETOF uuid LANGUAGE plpgsql ${BY_KEY} AS $$
  BEGIN
    RETURN QUERY
    WITH moved AS (
      UPDATE task_work w
         SET due_at = now() + a.delay_ms * interval '1 millisecond',
             lane = coalesce(a.lane, w.lane), phase = coalesce(a.phase, w.phase), strikes = coalesce(a.strikes, w.strikes),
             submits = w.submits + CASE WHEN a.phase = 'submitting' AND w.phase <> 'submitting' THEN 1 ELSE 0 END,
             put_offs = CASE WHEN a.facts ->> 'put_off' = 'true' THEN w.put_offs + 1
                             WHEN a.phase = 'submitting' OR a.phase IS NULL THEN w.put_offs ELSE 0 END,
             put_off_at = CASE WHEN a.facts ->> 'put_off' = 'true' THEN coalesce(w.put_off_at, now())
                               WHEN a.phase = 'submitting' OR a.phase IS NULL THEN w.put_off_at END
        FROM unnest(p_accounts, p_ids, p_fences, p_lanes, p_phases, p_delays_ms, p_strikes, p_facts)
             a (account_id, id, fence, lane, phase, delay_ms, strikes, facts)
       WHERE w.account_id = a.account_id AND w.task_id = a.id AND w.fence = a.fence
      RETURNING w.account_id, w.task_id, a.facts
    ), told AS (
      UPDATE task t
         SET status = CASE WHEN t.completed_at IS NULL THEN coalesce(m.facts ->> 'status', t.status) ELSE t.status END,
             progress = greatest(t.progress, (m.facts ->> 'progress')::smallint),
             memory = coalesce(m.facts -> 'memory', t.memory),
             provider_job_id = coalesce(m.facts ->> 'job_id', t.provider_job_id),
             provider_base_url = coalesce(m.facts ->> 'base_url', t.provider_base_url),
             found = coalesce(m.facts -> 'found', t.found),
             evidence_status = coalesce(m.facts ->> 'evidence', t.evidence_status),
             evidence_at = CASE WHEN m.facts ->> 'evidence' IS NULL THEN t.evidence_at ELSE now() END
        FROM moved m
       WHERE m.facts IS NOT NULL AND t.account_id = m.account_id AND t.id = m.task_id
    )
    SELECT m.task_id FROM moved m;
  END $$;`;

/**
 * The only function that ends a task: it changes status, money and work together. The task must be in one of the states
 * p_from, p_fence must be the newest fence (or null), and with p_unsent no submission may ever have begun. p_money: settle
 * (p_charge), release, keep. With p_watch_lane the work stays, and the provider's job is watched. Returns false, and changes
 * nothing, if a condition is not met.
 */
const END = `
  CREATE FUNCTION task_end(
    p_account uuid, p_id uuid, p_fence bigint, p_from text[], p_status text, p_money text, p_charge bigint,
    p_progress smallint, p_memory json, p_result json, p_error_code text, p_error_message text, p_content json,
    p_completed timestamptz, p_watch_lane text, p_watch_ms bigint, p_unsent boolean
  ) RETURNS boolean LANGUAGE plpgsql ${BY_KEY} AS $$
  BEGIN
    PERFORM FROM task_work
      WHERE account_id = p_account AND task_id = p_id AND (p_fence IS NULL OR fence = p_fence)
        AND (NOT p_unsent OR (phase = 'waiting' AND submits = 0)) FOR UPDATE;
    IF NOT FOUND AND (p_unsent OR p_fence IS NOT NULL) THEN
      RETURN false;
    END IF;
    UPDATE task
       SET status = p_status, progress = greatest(progress, p_progress), memory = coalesce(p_memory, memory),
           sealed_input = CASE WHEN p_money = 'keep' THEN sealed_input END,
           result = p_result, charged = CASE WHEN p_money = 'settle' THEN p_charge END,
           error_code = p_error_code, error_message = p_error_message, content = coalesce(p_content, content),
           completed_at = p_completed
     WHERE account_id = p_account AND id = p_id AND status = ANY (p_from);
    IF NOT FOUND THEN
      RETURN false;
    END IF;
    IF p_watch_lane IS NULL THEN
      DELETE FROM task_work WHERE account_id = p_account AND task_id = p_id;
    ELSE
      UPDATE task_work
         SET phase = 'watching', lane = p_watch_lane, fence = fence + 1, strikes = 0,
             due_at = now() + p_watch_ms * interval '1 millisecond'
       WHERE account_id = p_account AND task_id = p_id;
    END IF;
    IF p_money <> 'keep' AND 'done' <> ledger_resolve(p_account, p_id, CASE WHEN p_money = 'settle' THEN p_charge END) THEN
      RAISE EXCEPTION 'the hold of task % does not take %', p_id, p_money;
    END IF;
    RETURN true;
  END $$;`;

/**
 * Claims the right to submit a task with an idempotency key. Outcomes: claimed (until the lease ends), bound (the key has a
 * task), busy (another request with the same body has the claim), conflict (the key was used with another body).
 * p_fingerprints are those of the same body by each secret key, the newest first.
 */
const IDEMPOTENCY_CLAIM = `
  CREATE FUNCTION idempotency_claim(
    p_account uuid, p_endpoint text, p_key text, p_fingerprints bytea[], p_token uuid, p_lease_ms integer,
    OUT outcome text, OUT task uuid
  ) LANGUAGE plpgsql ${BY_KEY} AS $$
  DECLARE
    known idempotency_key;
    lease_end timestamptz := now() + p_lease_ms * interval '1 millisecond';
  BEGIN
    INSERT INTO idempotency_key (account_id, endpoint, key, fingerprint, token, lease_until)
      VALUES (p_account, p_endpoint, p_key, p_fingerprints[1], p_token, lease_end) ON CONFLICT DO NOTHING;
    IF FOUND THEN
      outcome := 'claimed';
      RETURN;
    END IF;
    SELECT * INTO known FROM idempotency_key
      WHERE account_id = p_account AND endpoint = p_endpoint AND key = p_key FOR UPDATE;
    IF NOT FOUND THEN
      outcome := 'busy';
    ELSIF known.task_id IS NOT NULL THEN
      outcome := CASE WHEN known.fingerprint = ANY (p_fingerprints) THEN 'bound' ELSE 'conflict' END;
      task := known.task_id;
    ELSIF known.token = p_token OR known.lease_until < now() THEN
      UPDATE idempotency_key SET fingerprint = p_fingerprints[1], token = p_token, lease_until = lease_end
        WHERE account_id = p_account AND endpoint = p_endpoint AND key = p_key;
      outcome := 'claimed';
    ELSE
      outcome := CASE WHEN known.fingerprint = ANY (p_fingerprints) THEN 'busy' ELSE 'conflict' END;
    END IF;
  END $$;`;
