-- Stored responses (decision G-108). Each item of a conversation is stored once, and each response lists the ids of its whole
-- conversation. What was said is sealed.
CREATE TABLE stored_content (
  account_id uuid PRIMARY KEY,
  bytes bigint NOT NULL CHECK (bytes >= 0),
  erased_at timestamptz,
  kept_bytes bigint NOT NULL DEFAULT 0 CHECK (kept_bytes >= 0)
) WITH (fillfactor = 50);

CREATE TABLE stored_item (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  lists integer NOT NULL CHECK (lists > 0),
  listed_until timestamptz NOT NULL,
  bytes integer NOT NULL,
  sealed_item text NOT NULL,
  PRIMARY KEY (account_id, id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 100);

CREATE TABLE stored_response (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  items uuid[] NOT NULL,
  output_items integer NOT NULL CHECK (output_items >= 0),
  bytes integer NOT NULL,
  sealed_response text NOT NULL,
  PRIMARY KEY (account_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 100);
ALTER TABLE stored_item ALTER sealed_item SET STORAGE EXTERNAL;
ALTER TABLE stored_response ALTER sealed_response SET STORAGE EXTERNAL;
CREATE INDEX stored_response_by_age ON stored_response (id, account_id);
CREATE INDEX stored_response_by_expiry ON stored_response (expires_at, account_id, id);

COMMENT ON TABLE stored_content IS 'How much is stored for an account. Whoever stores or forgets something of an account has its row.';
COMMENT ON COLUMN stored_content.bytes IS 'The sum of bytes of its responses and of its items.';
COMMENT ON COLUMN stored_content.kept_bytes IS 'The sum of bytes of its kept answers.';
COMMENT ON COLUMN stored_content.erased_at IS 'When all of it was last erased. What had begun before is not stored when it ends.';
COMMENT ON TABLE stored_item IS 'Messages, calls of tools and their results, once each.';
COMMENT ON COLUMN stored_item.lists IS 'How many stored responses list it. With the last of them it goes.';
COMMENT ON COLUMN stored_item.listed_until IS 'When the last of these responses expires.';
COMMENT ON COLUMN stored_item.sealed_item IS 'The item as JSON, encrypted for its id.';
COMMENT ON TABLE stored_response IS 'Responses that can be read and continued. The id is that of the execution, so that later ones sort after earlier ones.';
COMMENT ON COLUMN stored_response.items IS 'Its conversation in order: the items before it, its input, its output.';
COMMENT ON COLUMN stored_response.output_items IS 'How many of the items, at the end, are its output.';
COMMENT ON COLUMN stored_response.sealed_response IS 'The response without its output as JSON, encrypted for its id.';
