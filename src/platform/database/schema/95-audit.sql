CREATE TABLE audit_checkpoint (
  account_id uuid PRIMARY KEY,
  position bigint NOT NULL,
  entries bigint NOT NULL
);
COMMENT ON TABLE audit_checkpoint IS 'How far the last audit without a finding has read the entries of each account, so that the next one reads only what is new.';
COMMENT ON COLUMN audit_checkpoint.entries IS 'How many entries that are.';

CREATE TABLE audit_state (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  executions_from timestamptz NOT NULL DEFAULT '-infinity',
  holds_from timestamptz NOT NULL DEFAULT '-infinity',
  claimed_at timestamptz NOT NULL DEFAULT '-infinity',
  finished_at timestamptz,
  ok boolean
);
COMMENT ON TABLE audit_state IS 'The last audit, and from which time on the next one reads calls and holds. One row.';
COMMENT ON COLUMN audit_state.claimed_at IS 'When a process last began an audit.';
COMMENT ON COLUMN audit_state.ok IS 'Whether the last audit found nothing wrong.';
INSERT INTO audit_state DEFAULT VALUES;

CREATE TABLE usage_checkpoint (
  account_id uuid PRIMARY KEY,
  position bigint NOT NULL
);
COMMENT ON TABLE usage_checkpoint IS 'How far the audit of usage has read the entries of each account.';

CREATE TABLE usage_checkpoint_day (
  account_id uuid NOT NULL,
  day date NOT NULL,
  charged bigint NOT NULL,
  PRIMARY KEY (account_id, day)
);
COMMENT ON TABLE usage_checkpoint_day IS 'The sum of the entries of each account and day, as far as usage_checkpoint says.';
