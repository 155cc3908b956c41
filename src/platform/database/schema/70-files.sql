CREATE TABLE stored_file (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  owner_id uuid NOT NULL,
  state text NOT NULL DEFAULT 'writing' CHECK (state IN ('writing', 'stored')),
  content_type text NOT NULL,
  size_bytes bigint CHECK (size_bytes >= 0),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id),
  CHECK ((state = 'stored') = (size_bytes IS NOT NULL))
);
CREATE INDEX stored_file_by_expiry ON stored_file (expires_at, account_id, id) WHERE state = 'stored';
CREATE INDEX stored_file_writing ON stored_file (created_at, account_id, id) WHERE state = 'writing';

COMMENT ON TABLE stored_file IS 'The files in the store (docs/architecture/adr/0013). A row is written before the first byte of its file and deleted after the file, so that the sweeper finds a row for every file.';
COMMENT ON COLUMN stored_file.owner_id IS 'The task whose file it is, or the execution whose answer it is.';
COMMENT ON COLUMN stored_file.expires_at IS 'When the file may be deleted. A file that the sweeper has given up has expired with the epoch.';
