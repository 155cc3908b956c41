-- Old records are dropped (docs/architecture/adr/0016): ended calls, and finished tasks with their holds, deliveries and idempotency keys.
-- Ledger entries stay. A record is dropped only after an audit without a finding has read it and usage has its sums.
CREATE TABLE record_retention (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  calls_after uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  tasks_after uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'
);
COMMENT ON TABLE record_retention IS 'How far the pass over all old records has come: the last call and the last task that it looked at. One row.';
INSERT INTO record_retention DEFAULT VALUES;

CREATE TABLE dropped_record (
  account_id uuid PRIMARY KEY,
  until_id uuid NOT NULL,
  records bigint NOT NULL,
  charged numeric NOT NULL,
  cost numeric NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE dropped_record IS 'The sums of the dropped records of each account, so that a full audit still accounts for every entry.';
COMMENT ON COLUMN dropped_record.until_id IS 'The newest id that was dropped.';
COMMENT ON COLUMN dropped_record.cost IS 'What the dropped records cost at their providers.';
COMMENT ON COLUMN dropped_record.charged IS 'What the dropped records cost, less what was given back.';
