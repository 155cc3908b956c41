-- Read the files in the order of their names. An area has its tables in NN-area.sql and its functions in NN-area.functions.sql.
-- Amounts are micro-USD. Ids of accounts, keys, calls and tasks begin with the time at which they were made. Almost all tables
-- are keyed by account_id first and have no foreign keys: each function proves under the lock of the account that it exists, and no
-- account is ever deleted. A check constraint that names two columns has the name that PostgreSQL gives it.

CREATE TABLE schema_file (
  name text PRIMARY KEY,
  checksum text NOT NULL,
  version text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);
-- An older version of the gateway starts on a schema with migrations that it does not know where it is not below this.
CREATE TABLE schema_migration (
  name text PRIMARY KEY,
  oldest_version text NOT NULL
);
COMMENT ON TABLE schema_migration IS 'For each migration, the oldest version of the gateway that may run on the schema after it.';
COMMENT ON TABLE schema_file IS 'What this database has of each schema file whose statements are run again when they change: its functions, views and comments.';
COMMENT ON COLUMN schema_file.checksum IS 'SHA-256 of the statements that were run last, in hexadecimal.';
COMMENT ON COLUMN schema_file.version IS 'The version of the gateway that ran them. An older version does not run its own.';
