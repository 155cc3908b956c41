-- No index and no predicate of an index names a column that changes, so that the end of a call rewrites its row in place. The
-- columns that the end of a call changes come after the others, because only that part of the row is logged again. A row grows
-- by two thirds at the end of its call, hence the fill factor.
CREATE TABLE execution (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  process_id uuid,
  api_key_id uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  held bigint NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  client_request_id text,
  status text NOT NULL DEFAULT 'running',
  completed_at timestamptz,
  charged bigint,
  error_code text,
  provider text,
  upstream_model text,
  provider_request_id text,
  unit text,
  quantity jsonb,
  unit_price jsonb,
  estimated boolean,
  first_byte_ms integer,
  duration_ms integer,
  provider_fault jsonb,
  spend_period timestamptz,
  refunded bigint,
  capped boolean NOT NULL DEFAULT false,
  provider_figures jsonb,
  uncharged jsonb,
  maker_counted_at timestamptz,
  output_cap_reason text,
  output_cap integer,
  run text,
  price_book jsonb,
  cost bigint,
  attempts jsonb,
  PRIMARY KEY (account_id, id)
) WITH (fillfactor = 38, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = 100000);
-- One constraint, because PostgreSQL reads the text of each anew in every statement that writes the table. Not valid, so that a
-- database of before need not read all its calls; new ones are checked.
ALTER TABLE execution ADD CONSTRAINT execution_is_sound CHECK (
  CASE WHEN completed_at IS NULL THEN status = 'running' AND num_nonnulls(charged, refunded, cost) = 0 AND held >= 0
       ELSE status = CASE WHEN charged IS NULL THEN 'failed' ELSE 'succeeded' END
            AND charged >= 0 AND held >= coalesce(charged, 0) AND refunded BETWEEN 1 AND charged
            AND cost BETWEEN 0 AND 1000000000000000 END) NOT VALID;
CREATE INDEX execution_by_id ON execution (id);
CREATE INDEX execution_of_key ON execution (api_key_id, id);
CREATE INDEX execution_of_client_request ON execution (account_id, client_request_id, id) WHERE client_request_id IS NOT NULL;
CREATE INDEX execution_by_time ON execution USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);

COMMENT ON TABLE execution IS 'One row per synchronous call (decisions G-22, G-25). While the call runs, the row is also its hold.';
COMMENT ON COLUMN execution.process_id IS 'The process that began the call; null where the call never arrived and its id was taken.';
COMMENT ON COLUMN execution.held IS 'What the call reserves while it runs. Its charge is at most this.';
COMMENT ON COLUMN execution.client_request_id IS 'The name that the caller gave the request.';
COMMENT ON COLUMN execution.charged IS 'What the call cost; null unless it succeeded.';
COMMENT ON COLUMN execution.error_code IS 'The code of the error that the caller received.';
COMMENT ON COLUMN execution.provider_request_id IS 'The id that the provider gave its own answer.';
COMMENT ON COLUMN execution.unit IS 'What the price counts. With quantity and unit_price it is the basis of the charge.';
COMMENT ON COLUMN execution.quantity IS 'A number of units or, for tokens, the counts of each kind.';
COMMENT ON COLUMN execution.unit_price IS 'A price or, for tokens, the price of each kind.';
COMMENT ON COLUMN execution.estimated IS 'Whether the quantity was counted by the gateway because the provider told none.';
COMMENT ON COLUMN execution.first_byte_ms IS 'Milliseconds until the first byte of the answer.';
COMMENT ON COLUMN execution.provider_fault IS 'What the provider said about its failure.';
COMMENT ON COLUMN execution.spend_period IS 'Start of the period of its key''s limit in which the call counts; null: in none.';
COMMENT ON COLUMN execution.maker_counted_at IS 'When the call of a key that another key made was counted for its maker; null: the key has none.';
COMMENT ON COLUMN execution.refunded IS 'What operators gave back of the charge.';
COMMENT ON COLUMN execution.capped IS 'Whether the charge was cut at what was held (decision G-103).';
COMMENT ON COLUMN execution.provider_figures IS 'Names and values as the provider sent them, such as {"usage.cost": 0.0012}.';
COMMENT ON COLUMN execution.output_cap_reason IS 'What bound the output cap that the gateway chose (decision G-106): balance, key or model; null where the caller named one.';
COMMENT ON COLUMN execution.price_book IS 'The version of the price book by which the call was priced, with its factor: {"id": text, "version": number, "factorPermille": number}; null: the list.';
COMMENT ON COLUMN execution.cost IS 'What the call costs at its provider, in micro-USD, rounded up; null: not known. It is written once, at the end of the call.';
COMMENT ON COLUMN execution.output_cap IS 'The output cap that the gateway chose, in tokens.';
COMMENT ON COLUMN execution.run IS 'The run in which the call counts; null: in none.';
COMMENT ON COLUMN execution.attempts IS 'The attempts at providers, at most 16: the first ones and the last; null where a single one succeeded, and where none was made.';
COMMENT ON COLUMN execution.uncharged IS 'What was made and not charged, because the stream broke: {"unit": text, "quantity": number or counts of tokens}.';
