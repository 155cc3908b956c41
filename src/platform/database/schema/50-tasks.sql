-- json, not jsonb, because json keeps the order of keys: the body of a webhook is made before the row is written and the answer of
-- GET after it is read, and both must be equal.
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
  spend_period timestamptz,
  unit text,
  quantity jsonb,
  unit_price jsonb,
  refunded bigint,
  delivered_late boolean NOT NULL DEFAULT false,
  provider_fault json,
  unknown_state text,
  endpoint text,
  maker_counted_at timestamptz,
  run text,
  price_book jsonb,
  route_cost bigint,
  cost bigint,
  cancel_asked_at timestamptz,
  PRIMARY KEY (account_id, id),
  CHECK ((status IN ('queued', 'processing')) = (completed_at IS NULL)),
  CHECK ((status = 'succeeded') = (charged IS NOT NULL)),
  CHECK ((status = 'succeeded') = (result IS NOT NULL)),
  CHECK ((status = 'failed') = (error_code IS NOT NULL)),
  CHECK (refunded BETWEEN 1 AND charged)
) WITH (fillfactor = 80);
-- Not valid, so that a database of before need not read all its tasks; new ones are checked.
ALTER TABLE task
  ADD CONSTRAINT task_route_cost_check CHECK (route_cost BETWEEN 0 AND 1000000000000000) NOT VALID,
  ADD CONSTRAINT task_cost_check CHECK (cost BETWEEN 0 AND 1000000000000000) NOT VALID,
  ADD CONSTRAINT task_cost_is_of_an_end CHECK (cost IS NULL OR status IN ('succeeded', 'failed', 'expired')) NOT VALID;
-- Results are stored uncompressed, so that their size is known without reading them: a page of tasks ends by it.
ALTER TABLE task ALTER result SET STORAGE EXTERNAL, ALTER found SET STORAGE EXTERNAL;
CREATE INDEX task_by_id ON task (id);
CREATE INDEX task_by_status ON task (status, id);
CREATE INDEX task_of_account_by_status ON task (account_id, status, id);
CREATE INDEX task_open_responses ON task (account_id) WHERE kind = 'response' AND status IN ('queued', 'processing');
CREATE INDEX task_of_client_request ON task (account_id, client_request_id, id) WHERE client_request_id IS NOT NULL;
CREATE INDEX task_by_time ON task USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX task_to_collect ON task (id)
  WHERE evidence_status = 'succeeded' AND status IN ('failed', 'expired', 'reconciliation_required');

COMMENT ON TABLE task IS 'One row per asynchronous task (decision G-53). The row is wide and stays; what remains to do is in task_work. What a task reserves is the row of the same id in hold. Locks are taken in the order work, task, account, idempotency key.';
COMMENT ON COLUMN task.kind IS 'The operation: dubbing, song, video or the name of another task kind.';
COMMENT ON COLUMN task.sealed_input IS 'The request, encrypted; null once the task has ended and needs it no more.';
COMMENT ON COLUMN task.details IS 'The part of the request that the answers show.';
COMMENT ON COLUMN task.memory IS 'What the steps of the task remember for the next step.';
COMMENT ON COLUMN task.provider_base_url IS 'Where the provider is reached. A job is asked for where it was begun.';
COMMENT ON COLUMN task.on_sandbox IS 'Whether the provider is the sandbox.';
COMMENT ON COLUMN task.provider_job_id IS 'The id of the job at the provider; null until the provider accepted it.';
COMMENT ON COLUMN task.found IS 'What the provider answered about the finished job, before its files are collected.';
COMMENT ON COLUMN task.result IS 'What the caller receives.';
COMMENT ON COLUMN task.reserved IS 'The price, which is held until the task ends.';
COMMENT ON COLUMN task.charged IS 'What the task cost; null unless it succeeded.';
COMMENT ON COLUMN task.content IS 'The stored file of the result and when it expires.';
COMMENT ON COLUMN task.webhook_secret IS 'The secret that signs the webhooks, encrypted.';
COMMENT ON COLUMN task.evidence_status IS 'What the provider was seen to say about the job after the task had ended or while its outcome was unknown.';
COMMENT ON COLUMN task.spend_period IS 'Start of the period of its key''s limit in which the task counts; null: in none.';
COMMENT ON COLUMN task.maker_counted_at IS 'When the task of a key that another key made was counted for its maker; null: the key has none.';
COMMENT ON COLUMN task.run IS 'The run in which the task counts; null: in none.';
COMMENT ON COLUMN task.unit IS 'What the price counts. With quantity and unit_price it is the basis of the charge; all three are null where an operator set the charge by hand.';
COMMENT ON COLUMN task.refunded IS 'What operators gave back of the charge.';
COMMENT ON COLUMN task.delivered_late IS 'The task had failed or expired, and its result was delivered after all.';
COMMENT ON COLUMN task.provider_fault IS 'What the provider said about its failure.';
COMMENT ON COLUMN task.endpoint IS 'The path of the call, for usage; null in rows of version 0.1.0, whose endpoint follows from the kind.';
COMMENT ON COLUMN task.price_book IS 'As execution.price_book.';
COMMENT ON COLUMN task.route_cost IS 'What the task costs by its route if it succeeds, in micro-USD; null: the route has no cost.';
COMMENT ON COLUMN task.cost IS 'As execution.cost.';
COMMENT ON COLUMN task.cancel_asked_at IS 'When its holder asked to cancel it while a process ran it. Whoever runs it looks here.';
COMMENT ON COLUMN task.unknown_state IS 'A word of the provider for the state of the job that its adapter does not know.';

-- Rewritten by every poll.
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

COMMENT ON TABLE task_work IS 'What remains to do on a task. The row is narrow and deleted when no work remains, so that finished tasks do not slow the statements of workers.';
COMMENT ON COLUMN task_work.lane IS 'The step and the provider: step/provider. Each lane has a number of places in each process.';
COMMENT ON COLUMN task_work.due_at IS 'When the next step may begin or, while a step runs, when its lease ends.';
COMMENT ON COLUMN task_work.fence IS 'Counts the claims. The report of a worker counts only if its fence is the newest.';
COMMENT ON COLUMN task_work.strikes IS 'How often in a row the step failed.';
COMMENT ON COLUMN task_work.submits IS 'How often the task was sent to the provider.';
COMMENT ON COLUMN task_work.put_offs IS 'How often in a row the provider had no room for the task; put_off_at is when that began.';

CREATE TABLE idempotency_key (
  account_id uuid NOT NULL,
  endpoint text NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  token uuid NOT NULL,
  task_id uuid,
  lease_until timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  sent_fingerprint bytea,
  PRIMARY KEY (account_id, endpoint, key)
);
CREATE INDEX idempotency_key_unbound ON idempotency_key (lease_until) WHERE task_id IS NULL;
CREATE INDEX idempotency_key_of_task ON idempotency_key (task_id) WHERE task_id IS NOT NULL;

COMMENT ON TABLE idempotency_key IS 'The idempotency keys of submissions (decision G-86). A request first claims its key, until a lease ends, then binds it to its task.';
COMMENT ON COLUMN idempotency_key.fingerprint IS 'Fingerprint of the body as the gateway reads it. The same key with another one is refused.';
COMMENT ON COLUMN idempotency_key.token IS 'The request that has the claim.';
COMMENT ON COLUMN idempotency_key.sent_fingerprint IS 'Fingerprint of the body as it was sent, so that a replay is known before the checks that depend on its model, which may have been disabled since.';

CREATE TABLE kept_song_step (
  account_id uuid NOT NULL,
  upstream text NOT NULL,
  digest text NOT NULL,
  memory jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, upstream, digest)
);
COMMENT ON TABLE kept_song_step IS 'What the provider answered to a paid step before a song operation, for the same step of the same account.';
COMMENT ON COLUMN kept_song_step.upstream IS 'The provider and its base URL.';
COMMENT ON COLUMN kept_song_step.digest IS 'SHA-256 of the request of the step.';
COMMENT ON COLUMN kept_song_step.memory IS 'What the operation needs of the answer.';
