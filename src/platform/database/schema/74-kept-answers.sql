-- Idempotency keys of synchronous calls, and the answers that are kept (decisions G-48, G-86).
CREATE TABLE call_key (
  account_id uuid NOT NULL,
  endpoint text NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  execution_id uuid NOT NULL,
  model text NOT NULL,
  lease_until timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, endpoint, key)
);
CREATE INDEX call_key_by_expiry ON call_key (expires_at);

CREATE TABLE kept_answer (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  content_type text NOT NULL,
  headers jsonb NOT NULL,
  bytes integer NOT NULL CHECK (bytes >= 0),
  sealed_answer text NOT NULL,
  file_id uuid,
  PRIMARY KEY (account_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 100);
ALTER TABLE kept_answer ALTER sealed_answer SET STORAGE EXTERNAL;
CREATE INDEX kept_answer_by_expiry ON kept_answer (expires_at, account_id, id);

COMMENT ON TABLE call_key IS 'Idempotency keys of synchronous calls. The row names the execution that may be charged for its key before anything is held, and is bound by the settlement of that execution: what the key leads to is the status of the execution, written with the charge.';
COMMENT ON COLUMN call_key.fingerprint IS 'Fingerprint of the body as it was sent. The same key with another one is refused.';
COMMENT ON COLUMN call_key.model IS 'The model as the body names it, for the record of an execution that never arrived.';
COMMENT ON COLUMN call_key.lease_until IS 'Until then the first request is under way, and is waited for.';
COMMENT ON TABLE kept_answer IS 'Answers of paid synchronous calls, for a day. The id is that of the execution.';
COMMENT ON COLUMN kept_answer.headers IS 'What the head said beside the type, such as the charge: names and values.';
COMMENT ON COLUMN kept_answer.bytes IS 'Size of the answer as it is sent. The sum of an account is stored_content.kept_bytes.';
COMMENT ON COLUMN kept_answer.sealed_answer IS 'The body, encrypted for its id; of an answer in a file the key of that file.';
COMMENT ON COLUMN kept_answer.file_id IS 'The stored file with the body, encrypted with a key of its own; null: the body is here.';
