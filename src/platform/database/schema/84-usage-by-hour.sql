-- Usage by hour of UTC, of the last days alone (usage_drop_hours). Rows whose account and key are zero have the sums of all accounts.
CREATE TABLE usage_hour (
  account_id uuid NOT NULL,
  hour timestamptz NOT NULL,
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
  cost numeric NOT NULL,
  costed bigint NOT NULL,
  below_cost bigint NOT NULL,
  provider text NOT NULL,
  upstream_model text NOT NULL,
  PRIMARY KEY (account_id, hour, api_key_id, model, endpoint, provider, upstream_model)
) WITH (fillfactor = 70);
CREATE INDEX usage_hour_by_hour ON usage_hour (hour);

CREATE TABLE usage_hour_latency (
  account_id uuid NOT NULL,
  hour timestamptz NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  bucket smallint NOT NULL,
  calls bigint NOT NULL,
  provider text NOT NULL,
  upstream_model text NOT NULL,
  PRIMARY KEY (account_id, hour, api_key_id, model, endpoint, bucket, provider, upstream_model)
) WITH (fillfactor = 70);
CREATE INDEX usage_hour_latency_by_hour ON usage_hour_latency (hour);

CREATE TABLE usage_hour_refund (
  account_id uuid NOT NULL,
  hour timestamptz NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  reason text NOT NULL,
  amount bigint NOT NULL,
  provider text NOT NULL,
  upstream_model text NOT NULL,
  PRIMARY KEY (account_id, hour, api_key_id, model, endpoint, reason, provider, upstream_model)
) WITH (fillfactor = 70);
CREATE INDEX usage_hour_refund_by_hour ON usage_hour_refund (hour);

COMMENT ON TABLE usage_hour IS 'What usage_day has, by hour. The hours of a day add up to the day.';
COMMENT ON TABLE usage_hour_latency IS 'How many of the calls of usage_hour took how long, by bucket (usage_bucket).';
COMMENT ON TABLE usage_hour_refund IS 'What was given back of charges (usage_refund), by hour. It has no rows of all accounts.';
