-- Sums to which ended calls are added later, never during a call. To fold calls is to add them to the sums, in the order in which
-- they began. The calls of an interval of time are read once: ended calls are added; the others are remembered in usage_pending and
-- added when they have ended. An interval ends before the oldest transaction that may still write into it, so no call is missed.
-- Calls that are not folded yet are read one by one (usage_recent); with the sums they always equal the ledger. A charge counts on
-- the day on which it was made, and what is given back counts on the day on which it was given back.
CREATE TABLE usage_state (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  folded_until timestamptz NOT NULL,
  candidate_at timestamptz,
  candidate_xid xid8,
  held_from timestamptz NOT NULL DEFAULT '-infinity',
  hours_from timestamptz NOT NULL DEFAULT '-infinity'
);
COMMENT ON TABLE usage_state IS 'How far calls are folded into the sums of usage. One row, which is locked by whoever folds.';
COMMENT ON COLUMN usage_state.folded_until IS 'All calls that began until then are in the sums or in usage_pending.';
COMMENT ON COLUMN usage_state.candidate_at IS 'The next interval may end shortly before this time, once every transaction before candidate_xid has ended.';
COMMENT ON COLUMN usage_state.held_from IS 'What was held at the ends of months is known (usage_held) of those that ended later.';
COMMENT ON COLUMN usage_state.hours_from IS 'The sums of hours (usage_hour) are whole from then on: hours of before were dropped, or not counted.';
INSERT INTO usage_state (folded_until) VALUES (now() - interval '1 second');

CREATE TABLE usage_pending (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (account_id, id)
);
COMMENT ON TABLE usage_pending IS 'Calls and tasks that were open when their interval was folded. They are added when they have ended.';

CREATE TABLE usage_day (
  account_id uuid NOT NULL,
  day date NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  calls bigint NOT NULL,
  failures bigint NOT NULL,
  quantity numeric NOT NULL,
  charged bigint NOT NULL,
  given_back bigint NOT NULL DEFAULT 0,
  input_tokens bigint NOT NULL DEFAULT 0,
  cached_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  reasoning_tokens bigint NOT NULL DEFAULT 0,
  cost numeric NOT NULL DEFAULT 0,
  costed bigint NOT NULL DEFAULT 0,
  below_cost bigint NOT NULL DEFAULT 0,
  provider text NOT NULL DEFAULT '',
  upstream_model text NOT NULL DEFAULT '',
  PRIMARY KEY (account_id, day, api_key_id, model, endpoint, provider, upstream_model)
) WITH (fillfactor = 70);
CREATE INDEX usage_day_by_day ON usage_day (day);
COMMENT ON TABLE usage_day IS 'What was used, per day in UTC, account, key, model and endpoint. Rows whose account and key are zero have the sums of all accounts, for operators.';
COMMENT ON COLUMN usage_day.charged IS 'What was charged on this day, less what was given back on it. This is what users see.';
COMMENT ON COLUMN usage_day.input_tokens IS 'The whole prompts of calls that are sold by token; cached_tokens is a part of it, as reasoning_tokens is of output_tokens.';
COMMENT ON COLUMN usage_day.cost IS 'What the calls cost at their providers, in micro-USD, as far as that is known. What is given back does not change it.';
COMMENT ON COLUMN usage_day.costed IS 'How many calls that succeeded have a known cost. A late delivery whose cost is not known counts as -1, so that cost is whole where costed = calls - failures.';
COMMENT ON COLUMN usage_day.below_cost IS 'How many calls were charged less than they cost.';
COMMENT ON COLUMN usage_day.provider IS 'The provider that was called last, and upstream_model its name for the model; empty where none was called, and in sums of before this was kept.';
COMMENT ON COLUMN usage_day.given_back IS 'charged + given_back counts towards limits: there, what was given back leaves the day on which it was charged.';

CREATE TABLE usage_latency (
  account_id uuid NOT NULL,
  day date NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  bucket smallint NOT NULL,
  calls bigint NOT NULL,
  provider text NOT NULL DEFAULT '',
  upstream_model text NOT NULL DEFAULT '',
  PRIMARY KEY (account_id, day, api_key_id, model, endpoint, bucket, provider, upstream_model)
) WITH (fillfactor = 70);
CREATE INDEX usage_latency_by_day ON usage_latency (day);
COMMENT ON TABLE usage_latency IS 'How many of the calls of usage_day took how long, by bucket (usage_bucket).';

CREATE TABLE usage_month (
  account_id uuid NOT NULL,
  month date NOT NULL,
  api_key_id uuid NOT NULL,
  calls bigint NOT NULL,
  failures bigint NOT NULL,
  quantity numeric NOT NULL,
  charged bigint NOT NULL,
  input_tokens bigint NOT NULL DEFAULT 0,
  cached_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  reasoning_tokens bigint NOT NULL DEFAULT 0,
  cost numeric NOT NULL DEFAULT 0,
  costed bigint NOT NULL DEFAULT 0,
  below_cost bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, month, api_key_id)
) WITH (fillfactor = 70);
CREATE INDEX usage_month_by_month ON usage_month (month);
COMMENT ON TABLE usage_month IS 'What each key used in each month, so that a year of all accounts and keys is read by month and not by day and model. It has no rows of all accounts.';

CREATE TABLE usage_month_latency (
  account_id uuid NOT NULL,
  month date NOT NULL,
  api_key_id uuid NOT NULL,
  bucket smallint NOT NULL,
  calls bigint NOT NULL,
  PRIMARY KEY (account_id, month, api_key_id, bucket)
) WITH (fillfactor = 70);
COMMENT ON TABLE usage_month_latency IS 'How many of the calls of usage_month took how long, by bucket (usage_bucket).';

CREATE TABLE usage_refund (
  account_id uuid NOT NULL,
  day date NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  reason text NOT NULL,
  amount bigint NOT NULL,
  provider text NOT NULL DEFAULT '',
  upstream_model text NOT NULL DEFAULT '',
  PRIMARY KEY (account_id, day, api_key_id, model, endpoint, reason, provider, upstream_model)
) WITH (fillfactor = 70);
CREATE INDEX usage_refund_by_day ON usage_refund (day);
COMMENT ON TABLE usage_refund IS 'What was given back of charges, on the day on which it was given back: usage_day.charged has it taken off. It has no rows of all accounts.';
COMMENT ON COLUMN usage_refund.reason IS 'The reason that the operator told (ledger_entry.reason); empty where none was told, and where an error gave the charge back.';

CREATE TABLE usage_held (
  account_id uuid NOT NULL,
  month date NOT NULL,
  held bigint NOT NULL,
  PRIMARY KEY (account_id, month)
) WITH (fillfactor = 50);
COMMENT ON TABLE usage_held IS 'What calls and tasks held at the end of each month, added when they are folded. Those that are not folded yet are read one by one.';

CREATE TABLE usage_account (
  account_id uuid PRIMARY KEY,
  charged bigint NOT NULL,
  cost numeric NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE usage_account IS 'The sum of the days of each account, for the audit.';

CREATE TABLE late_charge (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  charged bigint NOT NULL CHECK (charged >= 0),
  charged_at timestamptz NOT NULL,
  cost bigint,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX late_charge_by_time ON late_charge (charged_at);
COMMENT ON COLUMN late_charge.cost IS 'What the task costs beside what it cost when it first ended; null: not known.';
COMMENT ON TABLE late_charge IS 'What was charged for tasks that were delivered late, whatever becomes of their records. Such a task counts as it first ended; its charge counts on the day on which it was made.';

CREATE TABLE late_reversal (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  api_key_id uuid,
  model text NOT NULL,
  endpoint text NOT NULL,
  charged_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);
COMMENT ON TABLE late_reversal IS 'Whose charge an error gave back although its record does not show it: of dropped calls and tasks, whose record is gone, and of tasks whose record stays as its holder sees it.';
COMMENT ON COLUMN late_reversal.charged_at IS 'When the charge was made.';
