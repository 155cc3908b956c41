CREATE TABLE gateway_process (
  id uuid PRIMARY KEY,
  lease_ms integer NOT NULL DEFAULT 15000,
  lease_until timestamptz NOT NULL DEFAULT now(),
  unbroken_since timestamptz NOT NULL DEFAULT now(),
  open_calls integer NOT NULL DEFAULT 0,
  oldest_open_at timestamptz NOT NULL DEFAULT '-infinity',
  version text
);
COMMENT ON TABLE gateway_process IS 'The processes of the gateway. Each renews its own lease; what a process held whose lease is over is released by another.';
COMMENT ON COLUMN gateway_process.lease_ms IS 'The length of the lease, which is the process''s own.';
COMMENT ON COLUMN gateway_process.lease_until IS 'The end of the lease. Only the owner writes it.';
COMMENT ON COLUMN gateway_process.unbroken_since IS 'Since when the lease was renewed in time. A process may only judge others once this is long enough ago.';
COMMENT ON COLUMN gateway_process.open_calls IS 'How many calls the process said it runs.';
COMMENT ON COLUMN gateway_process.oldest_open_at IS 'Earlier than the first call that the process may still run.';
COMMENT ON COLUMN gateway_process.version IS 'The version of the gateway that the process runs; null: 0.1.0, which does not say it.';

-- An index on the state of a call would cost each end of a call its rewrite in place. So a sweep reads every call once, some
-- seconds after it began, and notes those that still run. Its work grows with what is open and what came since the last one, not
-- with history or with processes that ended.
CREATE TABLE open_call (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  process_id uuid,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
COMMENT ON TABLE open_call IS 'Every running call that began until call_look.looked_until. Some here may have ended since the last look.';

CREATE TABLE call_look (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  looked_until timestamptz NOT NULL,
  candidate_at timestamptz,
  candidate_xid xid8,
  open_calls integer NOT NULL,
  oldest_open_at timestamptz
) WITH (fillfactor = 50);
COMMENT ON TABLE call_look IS 'How far the sweep has looked for running calls. One row.';
COMMENT ON COLUMN call_look.candidate_at IS 'The next look goes on until shortly before this time, once every transaction before candidate_xid has ended.';
COMMENT ON COLUMN call_look.open_calls IS 'How many open calls the last look found, of all times.';
INSERT INTO call_look (looked_until, open_calls) VALUES (now() - interval '1 minute', 0);

CREATE TABLE figures_leader (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  process_id uuid NOT NULL,
  until timestamptz NOT NULL
);
COMMENT ON TABLE figures_leader IS 'The process that publishes the figures of the whole database as metrics, so that their sum over processes is true. It renews its term; when that is over, any process may take it.';
COMMENT ON COLUMN figures_leader.process_id IS 'An id of its own, not that of gateway_process.';
