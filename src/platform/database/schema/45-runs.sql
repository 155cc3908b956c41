-- What the calls and tasks of a run of an agent spent and hold. The calls name their run; those of no run cost nothing here. The
-- counters are changed in the statement that begins or ends a call, under the lock of the account, so they always equal the sum of
-- the calls. Locks are taken in the order account, run.
CREATE TABLE run (
  account_id uuid NOT NULL,
  id text NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  spend_limit bigint CHECK (spend_limit >= 0),
  spent bigint NOT NULL DEFAULT 0,
  held bigint NOT NULL,
  calls bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz NOT NULL DEFAULT now(),
  dropped_calls bigint NOT NULL DEFAULT 0,
  dropped_spent bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, id)
) WITH (fillfactor = 50);
-- Its condition holds for every row, and keeps the index from statements that look for one run: planned while the table is empty,
-- they would read all runs of the account.
CREATE INDEX run_of_account ON run (account_id, position) WHERE position > 0;
CREATE INDEX run_by_time ON run USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);

COMMENT ON TABLE run IS 'The counters of each run (header x-gateway-run). A run that is not used for 30 days is dropped.';
COMMENT ON COLUMN run.id IS 'The name that the caller gave it.';
COMMENT ON COLUMN run.position IS 'The order in which the runs of an account began.';
COMMENT ON COLUMN run.spend_limit IS 'What the run may spend, as its first call said; null: it only counts.';
COMMENT ON COLUMN run.spent IS 'What its calls and tasks cost, less what was given back.';
COMMENT ON COLUMN run.held IS 'What its running calls and open tasks reserve.';
COMMENT ON COLUMN run.calls IS 'How many calls and tasks began, whatever became of them.';
COMMENT ON COLUMN run.dropped_calls IS 'How many of them have no record any more; dropped_spent is their part of spent.';
