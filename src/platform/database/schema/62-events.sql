-- Where an account is told of its events. Each event is one delivery for each endpoint that asks for it, written in the transaction
-- that causes it (webhook_delivery.event).
CREATE TABLE webhook_endpoint (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  url text NOT NULL,
  origin text NOT NULL,
  sealed_secret text NOT NULL,
  events text[] NOT NULL CHECK (cardinality(events) > 0),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX webhook_endpoint_by_id ON webhook_endpoint (id);
COMMENT ON TABLE webhook_endpoint IS 'The endpoints of accounts, at most 10 each.';
COMMENT ON COLUMN webhook_endpoint.sealed_secret IS 'The secret that signs its deliveries, encrypted for its id.';
COMMENT ON COLUMN webhook_endpoint.events IS 'The types of the events that it is told.';

CREATE TABLE limit_notice (
  account_id uuid NOT NULL,
  owner text NOT NULL,
  since text NOT NULL,
  percent smallint NOT NULL,
  PRIMARY KEY (account_id, owner)
);
COMMENT ON TABLE limit_notice IS 'What was told of the limit of a key or run (owner) last: the percent that was reached, in which period and of which limit (since).';

CREATE TABLE key_expiry_notice (
  api_key_id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  days smallint NOT NULL,
  PRIMARY KEY (api_key_id, expires_at, days)
);
COMMENT ON TABLE key_expiry_notice IS 'Which ends of keys were told, how many days before.';

CREATE TABLE topup_page (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  url text
);
COMMENT ON TABLE topup_page IS 'Where accounts get more money (TOPUP_URL), with {account} for the id of the account; null: nowhere. One row, or none before the first start with that setting.';
