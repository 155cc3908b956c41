CREATE TABLE console_session (
  id uuid PRIMARY KEY,
  secret_hash bytea NOT NULL UNIQUE CHECK (octet_length(secret_hash) = 32),
  holder text NOT NULL,
  actor text,
  role text CHECK (role IN ('viewer', 'support', 'finance', 'admin')),
  person text,
  account_id uuid,
  api_key_id uuid,
  address text,
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  proved_at timestamptz,
  issuer text,
  subject text,
  CHECK ((actor IS NULL) = (role IS NULL) AND (actor IS NULL) <> (account_id IS NULL)),
  CHECK (api_key_id IS NULL OR account_id IS NOT NULL)
);
CREATE INDEX console_session_of_holder ON console_session (holder, id);
CREATE INDEX console_session_by_end ON console_session (expires_at);
CREATE INDEX console_session_by_use ON console_session (last_seen_at);
COMMENT ON TABLE console_session IS 'Sessions of the console. A session that has ended is no row.';
COMMENT ON COLUMN console_session.secret_hash IS 'SHA-256 of what the cookie holds.';
COMMENT ON COLUMN console_session.holder IS 'Who has it: an operator, a key or an account. Nobody has more than 50; a new one ends the oldest.';
COMMENT ON COLUMN console_session.actor IS 'Of an operator: what vouched for the operator, as in operator_action. The session is good only while that is set up.';
COMMENT ON COLUMN console_session.person IS 'The name of an operator that the identity provider told.';
COMMENT ON COLUMN console_session.api_key_id IS 'The key as which a customer calls; null: the session was opened by a portal link, and reads only.';
COMMENT ON COLUMN console_session.last_seen_at IS 'When it was last used, to the minute.';
COMMENT ON COLUMN console_session.proved_at IS 'When an operator last proved who it is.';
COMMENT ON COLUMN console_session.issuer IS 'The identity provider that let the operator in; null: a token or a key did.';
COMMENT ON COLUMN console_session.subject IS 'Who the operator is there, which stays when the name changes.';

CREATE TABLE portal_link (
  secret_hash bytea PRIMARY KEY CHECK (octet_length(secret_hash) = 32),
  account_id uuid NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX portal_link_by_end ON portal_link (expires_at);
COMMENT ON TABLE portal_link IS 'Links that open a session of an account once. A link that was used is no row.';
COMMENT ON COLUMN portal_link.secret_hash IS 'SHA-256 of the secret in the link.';
