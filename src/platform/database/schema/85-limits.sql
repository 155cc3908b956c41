-- What keys with a limit have spent (decision G-99). A call or task of such a key names the period in which it counts; a trigger
-- changes the sum with every change of its charge or hold, in the same transaction. Calls of other keys name no period and are not
-- slowed by this. Locks are taken in the order account, sum.
CREATE TABLE key_spend (
  account_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  period text NOT NULL,
  period_start timestamptz NOT NULL,
  spent bigint NOT NULL,
  begun_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, api_key_id)
) WITH (fillfactor = 50);
COMMENT ON TABLE key_spend IS 'The counter of each key with a limit.';
COMMENT ON COLUMN key_spend.spent IS 'What the key spent and holds in the period that began at period_start.';
COMMENT ON COLUMN key_spend.begun_at IS 'When the counter began. It counts only if that was after the limit was last set (api_key.spend_limit_since).';

CREATE TABLE key_inherited (
  account_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  from_key_id uuid NOT NULL,
  at timestamptz NOT NULL,
  day_start timestamptz NOT NULL,
  day_spent bigint NOT NULL,
  month_start timestamptz NOT NULL,
  month_spent bigint NOT NULL,
  total_spent bigint NOT NULL,
  PRIMARY KEY (account_id, api_key_id)
) WITH (fillfactor = 50);
CREATE INDEX key_inherited_of_key ON key_inherited (account_id, from_key_id);
COMMENT ON TABLE key_inherited IS 'What a key took over from from_key_id when that was rotated (at): what it had spent and held in the day, in the month and in its whole life. It counts for the successor whatever becomes of the successor''s limit.';

CREATE TABLE key_spend_carried (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  begun_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id, api_key_id)
);
COMMENT ON TABLE key_spend_carried IS 'Calls and tasks that were open when their key was rotated, and tasks that were delivered late after it. Their ends also change what the successor (api_key_id) took over.';

CREATE TABLE maker_spend (
  account_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  day_start timestamptz NOT NULL,
  day_spent bigint NOT NULL,
  month_start timestamptz NOT NULL,
  month_spent bigint NOT NULL,
  total_spent bigint NOT NULL,
  PRIMARY KEY (account_id, api_key_id)
) WITH (fillfactor = 50);
COMMENT ON TABLE maker_spend IS 'What the keys that a key made spent and hold, in the newest day and month in which one of them began a call or task, and in all. It counts from the first call on, whether or not the maker (api_key_id) has a limit.';
