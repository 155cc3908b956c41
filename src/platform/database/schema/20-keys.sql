CREATE TABLE api_key (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  name text,
  prefix text NOT NULL,
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  allowed_models text[],
  requests_per_minute integer CHECK (requests_per_minute > 0),
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  spend_limit bigint CHECK (spend_limit >= 0),
  spend_limit_period text CHECK (spend_limit_period IN ('day', 'month', 'total')),
  spend_limit_since timestamptz,
  successor_id uuid,
  scopes text[] NOT NULL DEFAULT '{read,call}' CHECK (scopes <@ '{read,call,manage}' AND cardinality(scopes) > 0),
  maker_id uuid,
  CHECK ((spend_limit IS NULL) = (spend_limit_period IS NULL)),
  CONSTRAINT api_key_made_makes_none CHECK (maker_id IS NULL OR NOT 'manage' = ANY (scopes))
);
CREATE INDEX api_key_of_account ON api_key (account_id, id);
CREATE INDEX api_key_by_change ON api_key (changed_at);
CREATE INDEX api_key_by_expiry ON api_key (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX api_key_of_maker ON api_key (maker_id, id) WHERE maker_id IS NOT NULL;

COMMENT ON TABLE api_key IS 'API keys (decisions G-15, G-99). The text of a key is not kept.';
COMMENT ON COLUMN api_key.prefix IS 'The first characters of the text of the key, to recognize it by.';
COMMENT ON COLUMN api_key.hash IS 'SHA-256 of the text of the key.';
COMMENT ON COLUMN api_key.allowed_models IS 'The models that the key may use; null: all.';
COMMENT ON COLUMN api_key.requests_per_minute IS 'The rate limit of this key; null: that of the gateway.';
COMMENT ON COLUMN api_key.changed_at IS 'When the row was last changed, by the clock of the database. A process finds the changed keys among those that it remembers with one indexed query. A trigger sets it.';
COMMENT ON COLUMN api_key.spend_limit IS 'What the key may spend in each period; null: no limit.';
COMMENT ON COLUMN api_key.spend_limit_since IS 'When the limit or its period was last set.';
COMMENT ON COLUMN api_key.successor_id IS 'The key that took this one''s place when it was rotated.';
COMMENT ON COLUMN api_key.scopes IS 'What the key may do (decision G-109).';
COMMENT ON COLUMN api_key.maker_id IS 'The key that made it, or that key''s successor; null: an operator did. It ends with its maker, and what it spends counts for its maker too.';

-- Apart from api_key, because every change of that is told to all processes.
CREATE TABLE api_key_use (
  api_key_id uuid PRIMARY KEY,
  last_used_at timestamptz NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE api_key_use IS 'When each key was last used.';
