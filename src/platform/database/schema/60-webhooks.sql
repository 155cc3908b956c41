CREATE TABLE webhook_delivery (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  owner_id uuid NOT NULL,
  url text NOT NULL,
  origin text NOT NULL,
  sealed_secret text,
  body bytea NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  retry integer DEFAULT 0 CHECK (retry >= 0),
  due_at timestamptz,
  fence integer NOT NULL DEFAULT 0,
  is_under_way boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  event text,
  PRIMARY KEY (account_id, id),
  CHECK ((status = 'pending') = (due_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX webhook_delivery_due ON webhook_delivery (due_at, origin) WHERE status = 'pending';
CREATE INDEX webhook_delivery_lane ON webhook_delivery (account_id, origin, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_delivery_of_owner ON webhook_delivery (owner_id, id);
CREATE INDEX webhook_delivery_by_id ON webhook_delivery (id);
CREATE INDEX webhook_delivery_failed ON webhook_delivery (id) WHERE status = 'failed';
CREATE INDEX webhook_delivery_of_event ON webhook_delivery (created_at) WHERE event IS NOT NULL;

COMMENT ON TABLE webhook_delivery IS 'Webhooks and what became of them (decisions G-80 to G-83). A row is written in the transaction that ends its task.';
COMMENT ON COLUMN webhook_delivery.owner_id IS 'The task that the webhook tells of; for an event of the account the endpoint that is told.';
COMMENT ON COLUMN webhook_delivery.event IS 'The type of the event of the account that it tells; null: the webhook of a task.';
COMMENT ON COLUMN webhook_delivery.origin IS 'Scheme, host and port of the URL. The deliveries of an account to one origin are a lane.';
COMMENT ON COLUMN webhook_delivery.sealed_secret IS 'The secret that signs the body, encrypted.';
COMMENT ON COLUMN webhook_delivery.body IS 'The bytes that are sent, the same in each attempt.';
COMMENT ON COLUMN webhook_delivery.retry IS 'Which wait of the schedule follows the next failure; null: none, because this attempt was requested by hand.';
COMMENT ON COLUMN webhook_delivery.due_at IS 'When the next attempt may begin or, while an attempt runs, when its lease ends.';
COMMENT ON COLUMN webhook_delivery.fence IS 'Counts the claims. The attempt of a worker that was paused beyond its lease is logged but changes nothing else.';

CREATE TABLE webhook_attempt (
  account_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  fence integer NOT NULL,
  started_at timestamptz NOT NULL,
  status_code integer,
  error text,
  duration_ms integer NOT NULL,
  PRIMARY KEY (account_id, delivery_id, fence)
);
COMMENT ON TABLE webhook_attempt IS 'The log of the attempts of each delivery, at most the newest 100.';
COMMENT ON COLUMN webhook_attempt.status_code IS 'The HTTP status of the answer; null where none came.';
