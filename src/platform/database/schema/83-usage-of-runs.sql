-- Usage by run. A day of an account without runs has no rows here. The sums stay when the run is dropped.
CREATE TABLE usage_run (
  account_id uuid NOT NULL,
  day date NOT NULL,
  run text NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  calls bigint NOT NULL,
  failures bigint NOT NULL,
  quantity numeric NOT NULL,
  charged bigint NOT NULL,
  input_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  cost numeric NOT NULL DEFAULT 0,
  costed bigint NOT NULL DEFAULT 0,
  below_cost bigint NOT NULL DEFAULT 0,
  provider text NOT NULL DEFAULT '',
  upstream_model text NOT NULL DEFAULT '',
  PRIMARY KEY (account_id, day, run, api_key_id, model, endpoint, provider, upstream_model)
) WITH (fillfactor = 70);
CREATE INDEX usage_run_by_day ON usage_run (day);

CREATE TABLE usage_run_latency (
  account_id uuid NOT NULL,
  day date NOT NULL,
  run text NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  bucket smallint NOT NULL,
  calls bigint NOT NULL,
  provider text NOT NULL DEFAULT '',
  upstream_model text NOT NULL DEFAULT '',
  PRIMARY KEY (account_id, day, run, api_key_id, model, endpoint, bucket, provider, upstream_model)
) WITH (fillfactor = 70);
CREATE INDEX usage_run_latency_by_day ON usage_run_latency (day);

CREATE TABLE usage_run_refund (
  account_id uuid NOT NULL,
  day date NOT NULL,
  run text NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  reason text NOT NULL,
  amount bigint NOT NULL,
  provider text NOT NULL DEFAULT '',
  upstream_model text NOT NULL DEFAULT '',
  PRIMARY KEY (account_id, day, run, api_key_id, model, endpoint, reason, provider, upstream_model)
) WITH (fillfactor = 70);
CREATE INDEX usage_run_refund_by_day ON usage_run_refund (day);

COMMENT ON TABLE usage_run IS 'What the calls of usage_day that name a run used, by run. It has no rows of all accounts.';
COMMENT ON TABLE usage_run_latency IS 'How many of the calls of usage_run took how long, by bucket (usage_bucket).';
COMMENT ON TABLE usage_run_refund IS 'What usage_refund has of calls that name a run, by run.';
