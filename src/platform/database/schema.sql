-- The schema of the database as its catalogs tell it, to be read and compared: npm run schema writes this file.
-- It is made from schema/*.sql, where the text of the functions is.

CREATE TABLE account (
  id uuid NOT NULL,
  name text NOT NULL,
  posted bigint NOT NULL DEFAULT 0,
  held bigint NOT NULL DEFAULT 0,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  play_money boolean NOT NULL DEFAULT false,
  disabled boolean NOT NULL DEFAULT false,
  price_book text,
  in_lots bigint,
  lots_until bigint,
  low_balance bigint,
  is_low boolean NOT NULL DEFAULT false,
  depleted_at timestamp with time zone,
  keep_answers boolean NOT NULL DEFAULT false,
  leaving bigint,
  CONSTRAINT account_is_sound CHECK (((held >= 0) AND (in_lots >= 0) AND (low_balance > 0) AND (posted >= GREATEST(held, in_lots)))),
  CONSTRAINT account_pkey PRIMARY KEY (id),
  CONSTRAINT account_that_leaves_rests CHECK (((leaving IS NULL) OR (disabled AND (held = 0) AND (posted = leaving))))
) WITH (fillfactor=15);
CREATE INDEX account_by_name ON public.account USING btree (lower(name) text_pattern_ops, id);
CREATE UNIQUE INDEX account_pkey ON public.account USING btree (id);
CREATE TRIGGER account_follows_lots BEFORE UPDATE OF posted ON public.account FOR EACH ROW WHEN (((new.in_lots IS NOT NULL) AND (new.posted <> old.posted))) EXECUTE FUNCTION account_follow_lots();
CREATE TRIGGER account_low BEFORE UPDATE ON public.account FOR EACH ROW WHEN ((new.low_balance IS NOT NULL)) EXECUTE FUNCTION account_tell_low();
COMMENT ON account IS 'Who pays. Every function that moves money locks the row of its account first, so the statements of one account run one after the other.';
COMMENT ON account.posted IS 'The balance: the sum of the amounts of all ledger entries of the account.';
COMMENT ON account.held IS 'The part of the balance that running calls and open holds reserve. What may be spent is posted - held.';
COMMENT ON account.play_money IS 'Its money buys the work of the sandbox only (decisions G-95, G-110).';
COMMENT ON account.disabled IS 'An operator has closed the account: its keys are refused.';
COMMENT ON account.price_book IS 'The price book by which its calls and tasks are priced; null: the list.';
COMMENT ON account.in_lots IS 'The part of the balance that is left of credits that were granted or that expire: the sum of credit_lot.remaining. The rest of the balance is paid money that does not expire. Null: the account never had such a credit.';
COMMENT ON account.lots_until IS 'The position of the last entry that the lots have followed, while there is money in lots.';
COMMENT ON account.low_balance IS 'Below this what is available is told as the event balance.low; null: never.';
COMMENT ON account.is_low IS 'What is available is below low_balance, and that was told. A trigger keeps it.';
COMMENT ON account.depleted_at IS 'When the event balance.depleted was last told.';
COMMENT ON account.keep_answers IS 'The answers of all its synchronous calls are kept for a day.';
COMMENT ON account.leaving IS 'The account moves to another cell, or has moved (account_move): its balance since then. Until this is null again it stays closed, and no function can hold or move its money.';

CREATE TABLE account_move (
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  direction text NOT NULL,
  cell text NOT NULL,
  receipt_key text NOT NULL,
  actor text NOT NULL,
  begun_at timestamp with time zone NOT NULL DEFAULT now(),
  outcome text,
  ended_at timestamp with time zone,
  CONSTRAINT account_move_check CHECK (((outcome IS NULL) = (ended_at IS NULL))),
  CONSTRAINT account_move_check1 CHECK (((direction = 'out'::text) OR (outcome IS NOT NULL))),
  CONSTRAINT account_move_direction_check CHECK ((direction = ANY (ARRAY['out'::text, 'in'::text]))),
  CONSTRAINT account_move_outcome_check CHECK ((outcome = ANY (ARRAY['imported'::text, 'refused'::text]))),
  CONSTRAINT account_move_pkey PRIMARY KEY (id)
);
CREATE INDEX account_move_of_account ON public.account_move USING btree (account_id, begun_at);
CREATE UNIQUE INDEX account_move_one_at_a_time ON public.account_move USING btree (account_id) WHERE (outcome IS NULL);
CREATE UNIQUE INDEX account_move_pkey ON public.account_move USING btree (id);
COMMENT ON account_move IS 'Moves of accounts to other cells (out) and from them (in), docs/architecture/adr/0019. The cell that imports decides, once for each move: the row of the move there.';
COMMENT ON account_move.cell IS 'The id of the cell that the account moves to: its name, that of its database (cell_identity), and check digits.';
COMMENT ON account_move.receipt_key IS 'Random. The receipt of each outcome is made of it, so that the cell that exports believes only what the other one decided.';
COMMENT ON account_move.outcome IS 'What the cell that imports decided; null: this cell does not know it yet.';

CREATE TABLE api_key (
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  name text,
  prefix text NOT NULL,
  hash bytea NOT NULL,
  allowed_models text[],
  requests_per_minute integer,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  changed_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  spend_limit bigint,
  spend_limit_period text,
  spend_limit_since timestamp with time zone,
  successor_id uuid,
  scopes text[] NOT NULL DEFAULT '{read,call}'::text[],
  maker_id uuid,
  CONSTRAINT api_key_check CHECK (((spend_limit IS NULL) = (spend_limit_period IS NULL))),
  CONSTRAINT api_key_hash_check CHECK ((octet_length(hash) = 32)),
  CONSTRAINT api_key_hash_key UNIQUE (hash),
  CONSTRAINT api_key_made_makes_none CHECK (((maker_id IS NULL) OR (NOT ('manage'::text = ANY (scopes))))),
  CONSTRAINT api_key_pkey PRIMARY KEY (id),
  CONSTRAINT api_key_requests_per_minute_check CHECK ((requests_per_minute > 0)),
  CONSTRAINT api_key_scopes_check CHECK (((scopes <@ '{read,call,manage}'::text[]) AND (cardinality(scopes) > 0))),
  CONSTRAINT api_key_spend_limit_check CHECK ((spend_limit >= 0)),
  CONSTRAINT api_key_spend_limit_period_check CHECK ((spend_limit_period = ANY (ARRAY['day'::text, 'month'::text, 'total'::text])))
);
CREATE INDEX api_key_by_change ON public.api_key USING btree (changed_at);
CREATE INDEX api_key_by_expiry ON public.api_key USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX api_key_of_account ON public.api_key USING btree (account_id, id);
CREATE INDEX api_key_of_maker ON public.api_key USING btree (maker_id, id) WHERE (maker_id IS NOT NULL);
CREATE UNIQUE INDEX api_key_hash_key ON public.api_key USING btree (hash);
CREATE UNIQUE INDEX api_key_pkey ON public.api_key USING btree (id);
CREATE TRIGGER api_key_changed BEFORE UPDATE ON public.api_key FOR EACH ROW EXECUTE FUNCTION api_key_note_change();
COMMENT ON api_key IS 'API keys (decisions G-15, G-99). The text of a key is not kept.';
COMMENT ON api_key.prefix IS 'The first characters of the text of the key, to recognize it by.';
COMMENT ON api_key.hash IS 'SHA-256 of the text of the key.';
COMMENT ON api_key.allowed_models IS 'The models that the key may use; null: all.';
COMMENT ON api_key.requests_per_minute IS 'The rate limit of this key; null: that of the gateway.';
COMMENT ON api_key.changed_at IS 'When the row was last changed, by the clock of the database. A process finds the changed keys among those that it remembers with one indexed query. A trigger sets it.';
COMMENT ON api_key.spend_limit IS 'What the key may spend in each period; null: no limit.';
COMMENT ON api_key.spend_limit_since IS 'When the limit or its period was last set.';
COMMENT ON api_key.successor_id IS 'The key that took this one''s place when it was rotated.';
COMMENT ON api_key.scopes IS 'What the key may do (decision G-109).';
COMMENT ON api_key.maker_id IS 'The key that made it, or that key''s successor; null: an operator did. It ends with its maker, and what it spends counts for its maker too.';

CREATE TABLE api_key_use (
  api_key_id uuid NOT NULL,
  last_used_at timestamp with time zone NOT NULL,
  CONSTRAINT api_key_use_pkey PRIMARY KEY (api_key_id)
) WITH (fillfactor=50);
CREATE UNIQUE INDEX api_key_use_pkey ON public.api_key_use USING btree (api_key_id);
COMMENT ON api_key_use IS 'When each key was last used.';

CREATE TABLE audit_checkpoint (
  account_id uuid NOT NULL,
  "position" bigint NOT NULL,
  entries bigint NOT NULL,
  CONSTRAINT audit_checkpoint_pkey PRIMARY KEY (account_id)
);
CREATE UNIQUE INDEX audit_checkpoint_pkey ON public.audit_checkpoint USING btree (account_id);
COMMENT ON audit_checkpoint IS 'How far the last audit without a finding has read the entries of each account, so that the next one reads only what is new.';
COMMENT ON audit_checkpoint.entries IS 'How many entries that are.';

CREATE TABLE audit_state (
  is_only boolean NOT NULL DEFAULT true,
  executions_from timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  holds_from timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  claimed_at timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  finished_at timestamp with time zone,
  ok boolean,
  CONSTRAINT audit_state_is_only_check CHECK (is_only),
  CONSTRAINT audit_state_pkey PRIMARY KEY (is_only)
);
CREATE UNIQUE INDEX audit_state_pkey ON public.audit_state USING btree (is_only);
COMMENT ON audit_state IS 'The last audit, and from which time on the next one reads calls and holds. One row.';
COMMENT ON audit_state.claimed_at IS 'When a process last began an audit.';
COMMENT ON audit_state.ok IS 'Whether the last audit found nothing wrong.';

CREATE TABLE call_key (
  account_id uuid NOT NULL,
  endpoint text NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  execution_id uuid NOT NULL,
  model text NOT NULL,
  lease_until timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT call_key_pkey PRIMARY KEY (account_id, endpoint, key)
);
CREATE INDEX call_key_by_expiry ON public.call_key USING btree (expires_at);
CREATE UNIQUE INDEX call_key_pkey ON public.call_key USING btree (account_id, endpoint, key);
COMMENT ON call_key IS 'Idempotency keys of synchronous calls. The row names the execution that may be charged for its key before anything is held, and is bound by the settlement of that execution: what the key leads to is the status of the execution, written with the charge.';
COMMENT ON call_key.fingerprint IS 'Fingerprint of the body as it was sent. The same key with another one is refused.';
COMMENT ON call_key.model IS 'The model as the body names it, for the record of an execution that never arrived.';
COMMENT ON call_key.lease_until IS 'Until then the first request is under way, and is waited for.';

CREATE TABLE call_look (
  only_one boolean NOT NULL DEFAULT true,
  looked_until timestamp with time zone NOT NULL,
  candidate_at timestamp with time zone,
  candidate_xid xid8,
  open_calls integer NOT NULL,
  oldest_open_at timestamp with time zone,
  CONSTRAINT call_look_only_one_check CHECK (only_one),
  CONSTRAINT call_look_pkey PRIMARY KEY (only_one)
) WITH (fillfactor=50);
CREATE UNIQUE INDEX call_look_pkey ON public.call_look USING btree (only_one);
COMMENT ON call_look IS 'How far the sweep has looked for running calls. One row.';
COMMENT ON call_look.candidate_at IS 'The next look goes on until shortly before this time, once every transaction before candidate_xid has ended.';
COMMENT ON call_look.open_calls IS 'How many open calls the last look found, of all times.';

CREATE TABLE catalog_change (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  model text NOT NULL,
  price jsonb,
  file text,
  changed_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT catalog_change_pkey PRIMARY KEY (id)
);
CREATE INDEX catalog_change_of_model ON public.catalog_change USING btree (model, id);
CREATE UNIQUE INDEX catalog_change_pkey ON public.catalog_change USING btree (id);
COMMENT ON catalog_change IS 'Each price of each model, from when on. Rows are written once and never changed.';
COMMENT ON catalog_change.price IS 'The price as GET /v1/models shows it; null: no longer sold.';
COMMENT ON catalog_change.file IS 'The file that CATALOG_FILE named where the row of the model comes from it; null: a built-in row.';

CREATE SEQUENCE catalog_change_id_seq AS bigint START 1 INCREMENT 1 MINVALUE 1 MAXVALUE 9223372036854775807 CACHE 1 OWNED BY catalog_change.id;

CREATE TABLE cell_identity (
  is_only boolean NOT NULL DEFAULT true,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  CONSTRAINT cell_identity_is_only_check CHECK (is_only),
  CONSTRAINT cell_identity_pkey PRIMARY KEY (is_only)
);
CREATE UNIQUE INDEX cell_identity_pkey ON public.cell_identity USING btree (is_only);
COMMENT ON cell_identity IS 'Which database this is when accounts move between cells: one row, made when it is first asked for, so that databases made from one copy differ. A backup has it.';

CREATE TABLE console_session (
  id uuid NOT NULL,
  secret_hash bytea NOT NULL,
  holder text NOT NULL,
  actor text,
  role text,
  person text,
  account_id uuid,
  api_key_id uuid,
  address text,
  created_at timestamp with time zone NOT NULL,
  last_seen_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  proved_at timestamp with time zone,
  issuer text,
  subject text,
  CONSTRAINT console_session_check CHECK ((((actor IS NULL) = (role IS NULL)) AND ((actor IS NULL) <> (account_id IS NULL)))),
  CONSTRAINT console_session_check1 CHECK (((api_key_id IS NULL) OR (account_id IS NOT NULL))),
  CONSTRAINT console_session_pkey PRIMARY KEY (id),
  CONSTRAINT console_session_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'support'::text, 'finance'::text, 'admin'::text]))),
  CONSTRAINT console_session_secret_hash_check CHECK ((octet_length(secret_hash) = 32)),
  CONSTRAINT console_session_secret_hash_key UNIQUE (secret_hash)
);
CREATE INDEX console_session_by_end ON public.console_session USING btree (expires_at);
CREATE INDEX console_session_by_use ON public.console_session USING btree (last_seen_at);
CREATE INDEX console_session_of_holder ON public.console_session USING btree (holder, id);
CREATE UNIQUE INDEX console_session_pkey ON public.console_session USING btree (id);
CREATE UNIQUE INDEX console_session_secret_hash_key ON public.console_session USING btree (secret_hash);
COMMENT ON console_session IS 'Sessions of the console. A session that has ended is no row.';
COMMENT ON console_session.secret_hash IS 'SHA-256 of what the cookie holds.';
COMMENT ON console_session.holder IS 'Who has it: an operator, a key or an account. Nobody has more than 50; a new one ends the oldest.';
COMMENT ON console_session.actor IS 'Of an operator: what vouched for the operator, as in operator_action. The session is good only while that is set up.';
COMMENT ON console_session.person IS 'The name of an operator that the identity provider told.';
COMMENT ON console_session.api_key_id IS 'The key as which a customer calls; null: the session was opened by a portal link, and reads only.';
COMMENT ON console_session.last_seen_at IS 'When it was last used, to the minute.';
COMMENT ON console_session.proved_at IS 'When an operator last proved who it is.';
COMMENT ON console_session.issuer IS 'The identity provider that let the operator in; null: a token or a key did.';
COMMENT ON console_session.subject IS 'Who the operator is there, which stays when the name changes.';

CREATE TABLE credit_lot (
  account_id uuid NOT NULL,
  "position" bigint NOT NULL,
  is_granted boolean NOT NULL,
  amount bigint NOT NULL,
  expires_at timestamp with time zone,
  remaining bigint NOT NULL,
  is_empty boolean NOT NULL DEFAULT false,
  look_at timestamp with time zone,
  CONSTRAINT credit_lot_amount_check CHECK ((amount > 0)),
  CONSTRAINT credit_lot_check CHECK (((remaining >= 0) AND (remaining <= amount))),
  CONSTRAINT credit_lot_check1 CHECK ((is_empty = (remaining = 0))),
  CONSTRAINT credit_lot_check2 CHECK ((is_granted OR (expires_at IS NOT NULL))),
  CONSTRAINT credit_lot_pkey PRIMARY KEY (account_id, "position")
) WITH (fillfactor=50);
CREATE INDEX credit_lot_to_expire ON public.credit_lot USING btree (look_at) WHERE ((NOT is_empty) AND (look_at IS NOT NULL));
CREATE INDEX credit_lot_to_spend ON public.credit_lot USING btree (account_id, is_granted DESC, expires_at, "position") WHERE (NOT is_empty);
CREATE UNIQUE INDEX credit_lot_pkey ON public.credit_lot USING btree (account_id, "position");
COMMENT ON credit_lot IS 'What is left of each credit that was granted or that expires. account.in_lots is the sum.';
COMMENT ON credit_lot.position IS 'The position of the credit in the ledger.';
COMMENT ON credit_lot.is_granted IS 'Whether the credit was granted; else it was paid.';
COMMENT ON credit_lot.amount IS 'What was credited.';
COMMENT ON credit_lot.look_at IS 'When to look next whether something has expired; null: it never expires.';

CREATE TABLE dropped_record (
  account_id uuid NOT NULL,
  until_id uuid NOT NULL,
  records bigint NOT NULL,
  charged numeric NOT NULL,
  cost numeric NOT NULL DEFAULT 0,
  CONSTRAINT dropped_record_pkey PRIMARY KEY (account_id)
) WITH (fillfactor=50);
CREATE UNIQUE INDEX dropped_record_pkey ON public.dropped_record USING btree (account_id);
COMMENT ON dropped_record IS 'The sums of the dropped records of each account, so that a full audit still accounts for every entry.';
COMMENT ON dropped_record.until_id IS 'The newest id that was dropped.';
COMMENT ON dropped_record.charged IS 'What the dropped records cost, less what was given back.';
COMMENT ON dropped_record.cost IS 'What the dropped records cost at their providers.';

CREATE TABLE execution (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  process_id uuid,
  api_key_id uuid,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  held bigint NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  client_request_id text,
  status text NOT NULL DEFAULT 'running'::text,
  completed_at timestamp with time zone,
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
  spend_period timestamp with time zone,
  refunded bigint,
  capped boolean NOT NULL DEFAULT false,
  provider_figures jsonb,
  uncharged jsonb,
  maker_counted_at timestamp with time zone,
  output_cap_reason text,
  output_cap integer,
  run text,
  price_book jsonb,
  cost bigint,
  attempts jsonb,
  CONSTRAINT execution_is_sound CHECK (
CASE
    WHEN (completed_at IS NULL) THEN ((status = 'running'::text) AND (num_nonnulls(charged, refunded, cost) = 0) AND (held >= 0))
    ELSE ((status =
    CASE
        WHEN (charged IS NULL) THEN 'failed'::text
        ELSE 'succeeded'::text
    END) AND (charged >= 0) AND (held >= COALESCE(charged, (0)::bigint)) AND ((refunded >= 1) AND (refunded <= charged)) AND ((cost >= 0) AND (cost <= '1000000000000000'::bigint)))
END) NOT VALID,
  CONSTRAINT execution_pkey PRIMARY KEY (account_id, id)
) WITH (autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_vacuum_insert_threshold=100000, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=10000, fillfactor=38);
CREATE INDEX execution_by_id ON public.execution USING btree (id);
CREATE INDEX execution_by_time ON public.execution USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX execution_of_client_request ON public.execution USING btree (account_id, client_request_id, id) WHERE (client_request_id IS NOT NULL);
CREATE INDEX execution_of_key ON public.execution USING btree (api_key_id, id);
CREATE UNIQUE INDEX execution_pkey ON public.execution USING btree (account_id, id);
CREATE TRIGGER execution_cost_is_final AFTER UPDATE OF cost ON public.execution FOR EACH ROW WHEN ((old.cost IS NOT NULL)) EXECUTE FUNCTION cost_refuse_change();
CREATE TRIGGER execution_spends AFTER UPDATE ON public.execution FOR EACH ROW WHEN (((new.spend_period IS NOT NULL) OR (old.charged IS NOT NULL))) EXECUTE FUNCTION execution_note_spend();
CREATE TRIGGER execution_spends_for_maker AFTER UPDATE ON public.execution FOR EACH ROW WHEN ((new.maker_counted_at IS NOT NULL)) EXECUTE FUNCTION execution_note_for_maker();
COMMENT ON execution IS 'One row per synchronous call (decisions G-22, G-25). While the call runs, the row is also its hold.';
COMMENT ON execution.process_id IS 'The process that began the call; null where the call never arrived and its id was taken.';
COMMENT ON execution.held IS 'What the call reserves while it runs. Its charge is at most this.';
COMMENT ON execution.client_request_id IS 'The name that the caller gave the request.';
COMMENT ON execution.charged IS 'What the call cost; null unless it succeeded.';
COMMENT ON execution.error_code IS 'The code of the error that the caller received.';
COMMENT ON execution.provider_request_id IS 'The id that the provider gave its own answer.';
COMMENT ON execution.unit IS 'What the price counts. With quantity and unit_price it is the basis of the charge.';
COMMENT ON execution.quantity IS 'A number of units or, for tokens, the counts of each kind.';
COMMENT ON execution.unit_price IS 'A price or, for tokens, the price of each kind.';
COMMENT ON execution.estimated IS 'Whether the quantity was counted by the gateway because the provider told none.';
COMMENT ON execution.first_byte_ms IS 'Milliseconds until the first byte of the answer.';
COMMENT ON execution.provider_fault IS 'What the provider said about its failure.';
COMMENT ON execution.spend_period IS 'Start of the period of its key''s limit in which the call counts; null: in none.';
COMMENT ON execution.refunded IS 'What operators gave back of the charge.';
COMMENT ON execution.capped IS 'Whether the charge was cut at what was held (decision G-103).';
COMMENT ON execution.provider_figures IS 'Names and values as the provider sent them, such as {"usage.cost": 0.0012}.';
COMMENT ON execution.uncharged IS 'What was made and not charged, because the stream broke: {"unit": text, "quantity": number or counts of tokens}.';
COMMENT ON execution.maker_counted_at IS 'When the call of a key that another key made was counted for its maker; null: the key has none.';
COMMENT ON execution.output_cap_reason IS 'What bound the output cap that the gateway chose (decision G-106): balance, key or model; null where the caller named one.';
COMMENT ON execution.output_cap IS 'The output cap that the gateway chose, in tokens.';
COMMENT ON execution.run IS 'The run in which the call counts; null: in none.';
COMMENT ON execution.price_book IS 'The version of the price book by which the call was priced, with its factor: {"id": text, "version": number, "factorPermille": number}; null: the list.';
COMMENT ON execution.cost IS 'What the call costs at its provider, in micro-USD, rounded up; null: not known. It is written once, at the end of the call.';
COMMENT ON execution.attempts IS 'The attempts at providers, at most 16: the first ones and the last; null where a single one succeeded, and where none was made.';

CREATE TABLE figures_leader (
  is_only boolean NOT NULL DEFAULT true,
  process_id uuid NOT NULL,
  until timestamp with time zone NOT NULL,
  CONSTRAINT figures_leader_is_only_check CHECK (is_only),
  CONSTRAINT figures_leader_pkey PRIMARY KEY (is_only)
);
CREATE UNIQUE INDEX figures_leader_pkey ON public.figures_leader USING btree (is_only);
COMMENT ON figures_leader IS 'The process that publishes the figures of the whole database as metrics, so that their sum over processes is true. It renews its term; when that is over, any process may take it.';
COMMENT ON figures_leader.process_id IS 'An id of its own, not that of gateway_process.';

CREATE TABLE gateway_process (
  id uuid NOT NULL,
  lease_ms integer NOT NULL DEFAULT 15000,
  lease_until timestamp with time zone NOT NULL DEFAULT now(),
  unbroken_since timestamp with time zone NOT NULL DEFAULT now(),
  open_calls integer NOT NULL DEFAULT 0,
  oldest_open_at timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  version text,
  CONSTRAINT gateway_process_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX gateway_process_pkey ON public.gateway_process USING btree (id);
COMMENT ON gateway_process IS 'The processes of the gateway. Each renews its own lease; what a process held whose lease is over is released by another.';
COMMENT ON gateway_process.lease_ms IS 'The length of the lease, which is the process''s own.';
COMMENT ON gateway_process.lease_until IS 'The end of the lease. Only the owner writes it.';
COMMENT ON gateway_process.unbroken_since IS 'Since when the lease was renewed in time. A process may only judge others once this is long enough ago.';
COMMENT ON gateway_process.open_calls IS 'How many calls the process said it runs.';
COMMENT ON gateway_process.oldest_open_at IS 'Earlier than the first call that the process may still run.';
COMMENT ON gateway_process.version IS 'The version of the gateway that the process runs; null: 0.1.0, which does not say it.';

CREATE TABLE hold (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  amount bigint NOT NULL,
  state text NOT NULL DEFAULT 'open'::text,
  owner text NOT NULL,
  settled_amount bigint,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  resolved_at timestamp with time zone,
  CONSTRAINT hold_check CHECK (((amount > 0) OR ((amount = 0) AND (state = 'released'::text)))),
  CONSTRAINT hold_check1 CHECK (((state = 'settled'::text) = (settled_amount IS NOT NULL))),
  CONSTRAINT hold_check2 CHECK (((settled_amount >= 0) AND (settled_amount <= amount))),
  CONSTRAINT hold_check3 CHECK (((state = 'open'::text) = (resolved_at IS NULL))),
  CONSTRAINT hold_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT hold_state_check CHECK ((state = ANY (ARRAY['open'::text, 'settled'::text, 'released'::text])))
) WITH (fillfactor=60);
CREATE INDEX hold_by_time ON public.hold USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');
CREATE UNIQUE INDEX hold_pkey ON public.hold USING btree (account_id, id);
CREATE TRIGGER hold_resolved_is_final BEFORE UPDATE ON public.hold FOR EACH ROW WHEN ((old.state <> 'open'::text)) EXECUTE FUNCTION hold_refuse_change();
COMMENT ON hold IS 'What tasks reserve of the balance. A synchronous call has no hold of its own: its row in execution is one. A hold that is settled or released is final: a trigger refuses to change it.';
COMMENT ON hold.id IS 'The id of the task.';
COMMENT ON hold.amount IS 'What is reserved; 0 where a task was cancelled before it arrived.';
COMMENT ON hold.owner IS 'What holds it: task, or cancelled where no task ever did.';
COMMENT ON hold.settled_amount IS 'What was charged.';

CREATE TABLE idempotency_key (
  account_id uuid NOT NULL,
  endpoint text NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  token uuid NOT NULL,
  task_id uuid,
  lease_until timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  sent_fingerprint bytea,
  CONSTRAINT idempotency_key_pkey PRIMARY KEY (account_id, endpoint, key)
);
CREATE INDEX idempotency_key_of_task ON public.idempotency_key USING btree (task_id) WHERE (task_id IS NOT NULL);
CREATE INDEX idempotency_key_unbound ON public.idempotency_key USING btree (lease_until) WHERE (task_id IS NULL);
CREATE UNIQUE INDEX idempotency_key_pkey ON public.idempotency_key USING btree (account_id, endpoint, key);
COMMENT ON idempotency_key IS 'The idempotency keys of submissions (decision G-86). A request first claims its key, until a lease ends, then binds it to its task.';
COMMENT ON idempotency_key.fingerprint IS 'Fingerprint of the body as the gateway reads it. The same key with another one is refused.';
COMMENT ON idempotency_key.token IS 'The request that has the claim.';
COMMENT ON idempotency_key.sent_fingerprint IS 'Fingerprint of the body as it was sent, so that a replay is known before the checks that depend on its model, which may have been disabled since.';

CREATE TABLE kept_answer (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  content_type text NOT NULL,
  headers jsonb NOT NULL,
  bytes integer NOT NULL,
  sealed_answer text STORAGE EXTERNAL NOT NULL,
  file_id uuid,
  CONSTRAINT kept_answer_bytes_check CHECK ((bytes >= 0)),
  CONSTRAINT kept_answer_pkey PRIMARY KEY (account_id, id)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
CREATE INDEX kept_answer_by_expiry ON public.kept_answer USING btree (expires_at, account_id, id);
CREATE UNIQUE INDEX kept_answer_pkey ON public.kept_answer USING btree (account_id, id);
COMMENT ON kept_answer IS 'Answers of paid synchronous calls, for a day. The id is that of the execution.';
COMMENT ON kept_answer.headers IS 'What the head said beside the type, such as the charge: names and values.';
COMMENT ON kept_answer.bytes IS 'Size of the answer as it is sent. The sum of an account is stored_content.kept_bytes.';
COMMENT ON kept_answer.sealed_answer IS 'The body, encrypted for its id; of an answer in a file the key of that file.';
COMMENT ON kept_answer.file_id IS 'The stored file with the body, encrypted with a key of its own; null: the body is here.';

CREATE TABLE kept_song_step (
  account_id uuid NOT NULL,
  upstream text NOT NULL,
  digest text NOT NULL,
  memory jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT kept_song_step_pkey PRIMARY KEY (account_id, upstream, digest)
);
CREATE UNIQUE INDEX kept_song_step_pkey ON public.kept_song_step USING btree (account_id, upstream, digest);
COMMENT ON kept_song_step IS 'What the provider answered to a paid step before a song operation, for the same step of the same account.';
COMMENT ON kept_song_step.upstream IS 'The provider and its base URL.';
COMMENT ON kept_song_step.digest IS 'SHA-256 of the request of the step.';
COMMENT ON kept_song_step.memory IS 'What the operation needs of the answer.';

CREATE TABLE key_expiry_notice (
  api_key_id uuid NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  days smallint NOT NULL,
  CONSTRAINT key_expiry_notice_pkey PRIMARY KEY (api_key_id, expires_at, days)
);
CREATE UNIQUE INDEX key_expiry_notice_pkey ON public.key_expiry_notice USING btree (api_key_id, expires_at, days);
COMMENT ON key_expiry_notice IS 'Which ends of keys were told, how many days before.';

CREATE TABLE key_inherited (
  account_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  from_key_id uuid NOT NULL,
  at timestamp with time zone NOT NULL,
  day_start timestamp with time zone NOT NULL,
  day_spent bigint NOT NULL,
  month_start timestamp with time zone NOT NULL,
  month_spent bigint NOT NULL,
  total_spent bigint NOT NULL,
  CONSTRAINT key_inherited_pkey PRIMARY KEY (account_id, api_key_id)
) WITH (fillfactor=50);
CREATE INDEX key_inherited_of_key ON public.key_inherited USING btree (account_id, from_key_id);
CREATE UNIQUE INDEX key_inherited_pkey ON public.key_inherited USING btree (account_id, api_key_id);
COMMENT ON key_inherited IS 'What a key took over from from_key_id when that was rotated (at): what it had spent and held in the day, in the month and in its whole life. It counts for the successor whatever becomes of the successor''s limit.';

CREATE TABLE key_spend (
  account_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  period text NOT NULL,
  period_start timestamp with time zone NOT NULL,
  spent bigint NOT NULL,
  begun_at timestamp with time zone NOT NULL,
  CONSTRAINT key_spend_pkey PRIMARY KEY (account_id, api_key_id)
) WITH (fillfactor=50);
CREATE UNIQUE INDEX key_spend_pkey ON public.key_spend USING btree (account_id, api_key_id);
CREATE TRIGGER key_spend_begins AFTER INSERT ON public.key_spend FOR EACH ROW EXECUTE FUNCTION key_tell_limit();
CREATE TRIGGER key_spend_grows AFTER UPDATE ON public.key_spend FOR EACH ROW WHEN ((new.spent > old.spent)) EXECUTE FUNCTION key_tell_limit();
COMMENT ON key_spend IS 'The counter of each key with a limit.';
COMMENT ON key_spend.spent IS 'What the key spent and holds in the period that began at period_start.';
COMMENT ON key_spend.begun_at IS 'When the counter began. It counts only if that was after the limit was last set (api_key.spend_limit_since).';

CREATE TABLE key_spend_carried (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  begun_at timestamp with time zone NOT NULL,
  CONSTRAINT key_spend_carried_pkey PRIMARY KEY (account_id, id, api_key_id)
);
CREATE UNIQUE INDEX key_spend_carried_pkey ON public.key_spend_carried USING btree (account_id, id, api_key_id);
COMMENT ON key_spend_carried IS 'Calls and tasks that were open when their key was rotated, and tasks that were delivered late after it. Their ends also change what the successor (api_key_id) took over.';

CREATE TABLE late_charge (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  charged bigint NOT NULL,
  charged_at timestamp with time zone NOT NULL,
  cost bigint,
  CONSTRAINT late_charge_charged_check CHECK ((charged >= 0)),
  CONSTRAINT late_charge_pkey PRIMARY KEY (account_id, id)
);
CREATE INDEX late_charge_by_time ON public.late_charge USING btree (charged_at);
CREATE UNIQUE INDEX late_charge_pkey ON public.late_charge USING btree (account_id, id);
COMMENT ON late_charge IS 'What was charged for tasks that were delivered late, whatever becomes of their records. Such a task counts as it first ended; its charge counts on the day on which it was made.';
COMMENT ON late_charge.cost IS 'What the task costs beside what it cost when it first ended; null: not known.';

CREATE TABLE late_reversal (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  api_key_id uuid,
  model text NOT NULL,
  endpoint text NOT NULL,
  charged_at timestamp with time zone NOT NULL,
  CONSTRAINT late_reversal_pkey PRIMARY KEY (account_id, id)
);
CREATE UNIQUE INDEX late_reversal_pkey ON public.late_reversal USING btree (account_id, id);
COMMENT ON late_reversal IS 'Whose charge an error gave back although its record does not show it: of dropped calls and tasks, whose record is gone, and of tasks whose record stays as its holder sees it.';
COMMENT ON late_reversal.charged_at IS 'When the charge was made.';

CREATE TABLE ledger_entry (
  account_id uuid NOT NULL,
  "position" bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  hold_id uuid,
  kind text NOT NULL,
  amount bigint NOT NULL,
  balance_after bigint NOT NULL,
  reference text,
  idempotency_key text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  owner text,
  refund_key text,
  reason text,
  credit_kind text,
  expires_at timestamp with time zone,
  payment_reference text,
  currency text,
  tax bigint,
  credit_position bigint,
  CONSTRAINT ledger_entry_is_sound CHECK (((amount <> 0) AND (balance_after >= 0) AND
CASE kind
    WHEN 'charge'::text THEN ((amount < 0) AND (hold_id IS NOT NULL) AND (num_nonnulls(refund_key, reason, credit_kind, expires_at, payment_reference, currency, tax, credit_position) = 0))
    WHEN 'credit'::text THEN ((amount > 0) AND (credit_kind = ANY (ARRAY['paid'::text, 'granted'::text])) AND (tax >= 0) AND (num_nonnulls(hold_id, refund_key, reason, credit_position) = 0))
    WHEN 'correction'::text THEN ((reason = ANY (ARRAY['goodwill'::text, 'fault'::text, 'billing_error'::text])) AND ((refund_key IS NULL) OR (hold_id IS NOT NULL)) AND (num_nonnulls(credit_kind, expires_at, payment_reference, currency, tax, credit_position) = 0))
    WHEN 'expiry'::text THEN ((amount < 0) AND (credit_position < "position") AND (num_nonnulls(hold_id, refund_key, reason, credit_kind, expires_at, payment_reference, currency, tax) = 0))
    ELSE false
END)) NOT VALID,
  CONSTRAINT ledger_entry_pkey PRIMARY KEY (account_id, "position")
);
CREATE INDEX ledger_entry_given_back ON public.ledger_entry USING btree (created_at) WHERE ((kind = 'correction'::text) AND (hold_id IS NOT NULL));
CREATE INDEX ledger_entry_other ON public.ledger_entry USING btree (account_id, "position") WHERE (kind <> 'charge'::text);
CREATE UNIQUE INDEX ledger_entry_corrections_of_hold ON public.ledger_entry USING btree (account_id, hold_id, refund_key) WHERE ((kind = 'correction'::text) AND (hold_id IS NOT NULL));
CREATE UNIQUE INDEX ledger_entry_one_charge_per_hold ON public.ledger_entry USING btree (account_id, hold_id) WHERE (kind = 'charge'::text);
CREATE UNIQUE INDEX ledger_entry_one_per_key ON public.ledger_entry USING btree (account_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE UNIQUE INDEX ledger_entry_pkey ON public.ledger_entry USING btree (account_id, "position");
CREATE TRIGGER ledger_entry_append_only BEFORE UPDATE OR TRUNCATE ON public.ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION ledger_entry_refuse_change();
CREATE TRIGGER ledger_entry_kept BEFORE DELETE ON public.ledger_entry FOR EACH ROW EXECUTE FUNCTION ledger_entry_refuse_deletion();
CREATE TRIGGER ledger_entry_within_charge BEFORE INSERT ON public.ledger_entry FOR EACH ROW WHEN (((new.kind = 'correction'::text) AND (new.hold_id IS NOT NULL))) EXECUTE FUNCTION ledger_entry_refuse_excess();
COMMENT ON ledger_entry IS 'Every change of the balance of every account (decision G-29). Entries are never changed, and deleted only when the account has moved to another cell: triggers refuse it. Another trigger refuses corrections of a call or task that are together more than its charge.';
COMMENT ON ledger_entry.position IS 'The order of the entries of an account.';
COMMENT ON ledger_entry.hold_id IS 'The call or task that was charged, or whose charge is given back; null for credits, and for corrections by operators that name none.';
COMMENT ON ledger_entry.kind IS 'credit: money that was paid in. charge: what a call or task cost. correction: what was given back of a charge, or what an operator set right. expiry: what was left of a credit when it ended.';
COMMENT ON ledger_entry.amount IS 'What the balance gained; a charge is negative.';
COMMENT ON ledger_entry.balance_after IS 'The balance after this entry.';
COMMENT ON ledger_entry.reference IS 'A note: of an operator, or "reversal" where an error gave the charge back.';
COMMENT ON ledger_entry.idempotency_key IS 'The idempotency key of the operator who wrote the entry, once per account.';
COMMENT ON ledger_entry.owner IS 'The owner of the hold of a charge, for example task; null for a call.';
COMMENT ON ledger_entry.refund_key IS 'The operator''s idempotency key of a refund. It belongs to the call or task, not to the account as that of a credit.';
COMMENT ON ledger_entry.reason IS 'Why an operator refunded or corrected: goodwill, fault (the work was bad or did not arrive) or billing_error; null where none was told.';
COMMENT ON ledger_entry.credit_kind IS 'Of a credit: paid or granted. Null in credits of version 0.1.0, which are paid.';
COMMENT ON ledger_entry.expires_at IS 'Of a credit: when what is left of it expires; null: never.';
COMMENT ON ledger_entry.payment_reference IS 'Of a credit: what the payment is called elsewhere.';
COMMENT ON ledger_entry.currency IS 'Of a credit: the currency that was paid in, as ISO 4217 names it.';
COMMENT ON ledger_entry.tax IS 'Of a credit: the tax in what was paid, in micro-USD.';
COMMENT ON ledger_entry.credit_position IS 'Of an expiry: the position of the credit that expired.';

CREATE SEQUENCE ledger_entry_position_seq AS bigint START 1 INCREMENT 1 MINVALUE 1 MAXVALUE 9223372036854775807 CACHE 1 OWNED BY ledger_entry.position;

CREATE TABLE ledger_entry_source (
  account_id uuid NOT NULL,
  "position" bigint NOT NULL,
  credits bigint[] NOT NULL,
  amounts bigint[] NOT NULL,
  granted bigint NOT NULL,
  CONSTRAINT ledger_entry_source_check CHECK ((cardinality(credits) = cardinality(amounts))),
  CONSTRAINT ledger_entry_source_pkey PRIMARY KEY (account_id, "position")
);
CREATE UNIQUE INDEX ledger_entry_source_pkey ON public.ledger_entry_source USING btree (account_id, "position");
CREATE TRIGGER ledger_entry_source_append_only BEFORE UPDATE OR TRUNCATE ON public.ledger_entry_source FOR EACH STATEMENT EXECUTE FUNCTION ledger_entry_refuse_change();
CREATE TRIGGER ledger_entry_source_kept BEFORE DELETE ON public.ledger_entry_source FOR EACH ROW EXECUTE FUNCTION ledger_entry_refuse_deletion();
COMMENT ON ledger_entry_source IS 'Which credits a charge, correction or expiry took money from, or gave it back to. An entry without a row here, other than a credit, moved only paid money that does not expire. Rows are never changed.';
COMMENT ON ledger_entry_source.position IS 'The entry.';
COMMENT ON ledger_entry_source.credits IS 'The positions of the credits, in the order in which they were used; null is the paid money that does not expire.';
COMMENT ON ledger_entry_source.amounts IS 'What was taken from each or given back to each; positive.';
COMMENT ON ledger_entry_source.granted IS 'The part of the amount of the entry that is granted money, with the sign of the amount.';

CREATE TABLE limit_notice (
  account_id uuid NOT NULL,
  owner text NOT NULL,
  since text NOT NULL,
  percent smallint NOT NULL,
  CONSTRAINT limit_notice_pkey PRIMARY KEY (account_id, owner)
);
CREATE UNIQUE INDEX limit_notice_pkey ON public.limit_notice USING btree (account_id, owner);
COMMENT ON limit_notice IS 'What was told of the limit of a key or run (owner) last: the percent that was reached, in which period and of which limit (since).';

CREATE TABLE maker_spend (
  account_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  day_start timestamp with time zone NOT NULL,
  day_spent bigint NOT NULL,
  month_start timestamp with time zone NOT NULL,
  month_spent bigint NOT NULL,
  total_spent bigint NOT NULL,
  CONSTRAINT maker_spend_pkey PRIMARY KEY (account_id, api_key_id)
) WITH (fillfactor=50);
CREATE UNIQUE INDEX maker_spend_pkey ON public.maker_spend USING btree (account_id, api_key_id);
CREATE TRIGGER maker_spend_begins AFTER INSERT ON public.maker_spend FOR EACH ROW EXECUTE FUNCTION key_tell_limit();
CREATE TRIGGER maker_spend_grows AFTER UPDATE ON public.maker_spend FOR EACH ROW WHEN ((new.total_spent > old.total_spent)) EXECUTE FUNCTION key_tell_limit();
COMMENT ON maker_spend IS 'What the keys that a key made spent and hold, in the newest day and month in which one of them began a call or task, and in all. It counts from the first call on, whether or not the maker (api_key_id) has a limit.';

CREATE TABLE migration (
  id integer NOT NULL DEFAULT nextval('migration_id_seq'::regclass),
  "timestamp" bigint NOT NULL,
  name character varying NOT NULL,
  CONSTRAINT "PK_3043fc6b8af7c99b8b98830094f" PRIMARY KEY (id)
);
CREATE UNIQUE INDEX "PK_3043fc6b8af7c99b8b98830094f" ON public.migration USING btree (id);

CREATE SEQUENCE migration_id_seq AS integer START 1 INCREMENT 1 MINVALUE 1 MAXVALUE 2147483647 CACHE 1 OWNED BY migration.id;

CREATE TABLE open_call (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  process_id uuid,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT open_call_pkey PRIMARY KEY (account_id, id)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
CREATE UNIQUE INDEX open_call_pkey ON public.open_call USING btree (account_id, id);
COMMENT ON open_call IS 'Every running call that began until call_look.looked_until. Some here may have ended since the last look.';

CREATE TABLE operator_action (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  actor text NOT NULL,
  action text NOT NULL,
  target text,
  address text,
  at timestamp with time zone NOT NULL,
  person text,
  role text,
  reason text,
  issuer text,
  subject text,
  CONSTRAINT operator_action_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX operator_action_pkey ON public.operator_action USING btree (id);
COMMENT ON operator_action IS 'What operators asked to change. Rows are written once and never changed.';
COMMENT ON operator_action.action IS 'The name of the command that does it. Version 0.1.0 wrote method and path where the operator API was used.';
COMMENT ON operator_action.target IS 'The public id of what was to be changed.';
COMMENT ON operator_action.address IS 'The network address that asked.';
COMMENT ON operator_action.person IS 'Who asked, by the name that the identity provider told; null: a token or a key did.';
COMMENT ON operator_action.role IS 'The role in which an operator asked; null where a key or the command line did.';
COMMENT ON operator_action.reason IS 'Why, as the person said in the console.';
COMMENT ON operator_action.issuer IS 'The identity provider that let the operator in; null: a token or a key did.';
COMMENT ON operator_action.subject IS 'Who the operator is there, which stays when the name changes.';

CREATE SEQUENCE operator_action_id_seq AS bigint START 1 INCREMENT 1 MINVALUE 1 MAXVALUE 9223372036854775807 CACHE 1 OWNED BY operator_action.id;

CREATE TABLE operator_outcome (
  action_id bigint NOT NULL,
  outcome text NOT NULL,
  made text,
  amount bigint,
  values_before json,
  values_after json,
  CONSTRAINT operator_outcome_action_id_fkey FOREIGN KEY (action_id) REFERENCES operator_action(id),
  CONSTRAINT operator_outcome_pkey PRIMARY KEY (action_id)
);
CREATE UNIQUE INDEX operator_outcome_pkey ON public.operator_outcome USING btree (action_id);
COMMENT ON operator_outcome IS 'What came of the actions of operators.';
COMMENT ON operator_outcome.made IS 'The public id of what the action made.';
COMMENT ON operator_outcome.values_before IS 'The fields that the action changed, as the operator API showed them before it; null where there is nothing to show.';
COMMENT ON operator_outcome.values_after IS 'The same fields afterwards, or those of what it made.';

CREATE TABLE portal_link (
  secret_hash bytea NOT NULL,
  account_id uuid NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT portal_link_pkey PRIMARY KEY (secret_hash),
  CONSTRAINT portal_link_secret_hash_check CHECK ((octet_length(secret_hash) = 32))
);
CREATE INDEX portal_link_by_end ON public.portal_link USING btree (expires_at);
CREATE UNIQUE INDEX portal_link_pkey ON public.portal_link USING btree (secret_hash);
COMMENT ON portal_link IS 'Links that open a session of an account once. A link that was used is no row.';
COMMENT ON portal_link.secret_hash IS 'SHA-256 of the secret in the link.';

CREATE TABLE price_book (
  id text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT price_book_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX price_book_pkey ON public.price_book USING btree (id);
COMMENT ON price_book IS 'Prices of some accounts: those that name it in account.price_book.';

CREATE TABLE price_book_revision (
  revision bigint NOT NULL
);
COMMENT ON price_book_revision IS 'Counts the changes of all price books.';

CREATE TABLE price_book_version (
  book_id text NOT NULL,
  version integer NOT NULL,
  factor_permille integer NOT NULL,
  models jsonb NOT NULL,
  valid_from timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT price_book_version_factor_permille_check CHECK (((factor_permille >= 1) AND (factor_permille <= 10000))),
  CONSTRAINT price_book_version_pkey PRIMARY KEY (book_id, version)
);
CREATE UNIQUE INDEX price_book_version_pkey ON public.price_book_version USING btree (book_id, version);
COMMENT ON price_book_version IS 'What a price book says from a time on: of the versions that have begun, the one that began last. Kept when the book is deleted, because calls and tasks name it.';
COMMENT ON price_book_version.factor_permille IS 'The part of an amount that is paid, in thousandths, for models that are not in models (decision G-30).';
COMMENT ON price_book_version.models IS 'Prices of its own, a list of {id, price} as in the file of the catalog.';

CREATE TABLE record_retention (
  is_only boolean NOT NULL DEFAULT true,
  calls_after uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'::uuid,
  tasks_after uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'::uuid,
  CONSTRAINT record_retention_is_only_check CHECK (is_only),
  CONSTRAINT record_retention_pkey PRIMARY KEY (is_only)
);
CREATE UNIQUE INDEX record_retention_pkey ON public.record_retention USING btree (is_only);
COMMENT ON record_retention IS 'How far the pass over all old records has come: the last call and the last task that it looked at. One row.';

CREATE TABLE route_pause (
  provider text NOT NULL,
  upstream_model text NOT NULL,
  until timestamp with time zone NOT NULL,
  reason text NOT NULL,
  actor text NOT NULL,
  paused_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT route_pause_pkey PRIMARY KEY (provider, upstream_model)
);
CREATE UNIQUE INDEX route_pause_pkey ON public.route_pause USING btree (provider, upstream_model);
COMMENT ON route_pause IS 'Routes that operators have paused. Every process reads them each second.';
COMMENT ON route_pause.upstream_model IS 'The model at the provider; empty: all of the provider.';
COMMENT ON route_pause.actor IS 'Who paused it, as in operator_action.';

CREATE TABLE route_report (
  process_id uuid NOT NULL,
  reported_at timestamp with time zone NOT NULL DEFAULT now(),
  figures jsonb NOT NULL,
  CONSTRAINT route_report_pkey PRIMARY KEY (process_id)
);
CREATE UNIQUE INDEX route_report_pkey ON public.route_report USING btree (process_id);
COMMENT ON route_report IS 'What each process has seen of providers in the last hour. A report that is not renewed says nothing any more.';
COMMENT ON route_report.figures IS 'Providers with how many keys they have, outcomes and durations of attempts by route, and circuit breakers.';

CREATE TABLE run (
  account_id uuid NOT NULL,
  id text NOT NULL,
  "position" bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  spend_limit bigint,
  spent bigint NOT NULL DEFAULT 0,
  held bigint NOT NULL,
  calls bigint NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  last_used_at timestamp with time zone NOT NULL DEFAULT now(),
  dropped_calls bigint NOT NULL DEFAULT 0,
  dropped_spent bigint NOT NULL DEFAULT 0,
  CONSTRAINT run_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT run_spend_limit_check CHECK ((spend_limit >= 0))
) WITH (fillfactor=50);
CREATE INDEX run_by_time ON public.run USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX run_of_account ON public.run USING btree (account_id, "position") WHERE ("position" > 0);
CREATE UNIQUE INDEX run_pkey ON public.run USING btree (account_id, id);
COMMENT ON run IS 'The counters of each run (header x-gateway-run). A run that is not used for 30 days is dropped.';
COMMENT ON run.id IS 'The name that the caller gave it.';
COMMENT ON run.position IS 'The order in which the runs of an account began.';
COMMENT ON run.spend_limit IS 'What the run may spend, as its first call said; null: it only counts.';
COMMENT ON run.spent IS 'What its calls and tasks cost, less what was given back.';
COMMENT ON run.held IS 'What its running calls and open tasks reserve.';
COMMENT ON run.calls IS 'How many calls and tasks began, whatever became of them.';
COMMENT ON run.dropped_calls IS 'How many of them have no record any more; dropped_spent is their part of spent.';

CREATE SEQUENCE run_position_seq AS bigint START 1 INCREMENT 1 MINVALUE 1 MAXVALUE 9223372036854775807 CACHE 1 OWNED BY run.position;

CREATE TABLE schema_file (
  name text NOT NULL,
  checksum text NOT NULL,
  version text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT schema_file_pkey PRIMARY KEY (name)
);
CREATE UNIQUE INDEX schema_file_pkey ON public.schema_file USING btree (name);
COMMENT ON schema_file IS 'What this database has of each schema file whose statements are run again when they change: its functions, views and comments.';
COMMENT ON schema_file.checksum IS 'SHA-256 of the statements that were run last, in hexadecimal.';
COMMENT ON schema_file.version IS 'The version of the gateway that ran them. An older version does not run its own.';

CREATE TABLE schema_migration (
  name text NOT NULL,
  oldest_version text NOT NULL,
  CONSTRAINT schema_migration_pkey PRIMARY KEY (name)
);
CREATE UNIQUE INDEX schema_migration_pkey ON public.schema_migration USING btree (name);
COMMENT ON schema_migration IS 'For each migration, the oldest version of the gateway that may run on the schema after it.';

CREATE TABLE sealing_key (
  key_id text NOT NULL,
  check_value text NOT NULL,
  first_seen_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT sealing_key_pkey PRIMARY KEY (key_id)
);
CREATE UNIQUE INDEX sealing_key_pkey ON public.sealing_key USING btree (key_id);
COMMENT ON sealing_key IS 'The secret keys that processes of this database have had.';
COMMENT ON sealing_key.check_value IS 'A text that the key has sealed, by which a start knows whether its list has the key.';

CREATE TABLE stored_content (
  account_id uuid NOT NULL,
  bytes bigint NOT NULL,
  erased_at timestamp with time zone,
  kept_bytes bigint NOT NULL DEFAULT 0,
  CONSTRAINT stored_content_bytes_check CHECK ((bytes >= 0)),
  CONSTRAINT stored_content_kept_bytes_check CHECK ((kept_bytes >= 0)),
  CONSTRAINT stored_content_pkey PRIMARY KEY (account_id)
) WITH (fillfactor=50);
CREATE UNIQUE INDEX stored_content_pkey ON public.stored_content USING btree (account_id);
COMMENT ON stored_content IS 'How much is stored for an account. Whoever stores or forgets something of an account has its row.';
COMMENT ON stored_content.bytes IS 'The sum of bytes of its responses and of its items.';
COMMENT ON stored_content.erased_at IS 'When all of it was last erased. What had begun before is not stored when it ends.';
COMMENT ON stored_content.kept_bytes IS 'The sum of bytes of its kept answers.';

CREATE TABLE stored_file (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  owner_id uuid NOT NULL,
  state text NOT NULL DEFAULT 'writing'::text,
  content_type text NOT NULL,
  size_bytes bigint,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT stored_file_check CHECK (((state = 'stored'::text) = (size_bytes IS NOT NULL))),
  CONSTRAINT stored_file_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT stored_file_size_bytes_check CHECK ((size_bytes >= 0)),
  CONSTRAINT stored_file_state_check CHECK ((state = ANY (ARRAY['writing'::text, 'stored'::text])))
);
CREATE INDEX stored_file_by_expiry ON public.stored_file USING btree (expires_at, account_id, id) WHERE (state = 'stored'::text);
CREATE INDEX stored_file_writing ON public.stored_file USING btree (created_at, account_id, id) WHERE (state = 'writing'::text);
CREATE UNIQUE INDEX stored_file_pkey ON public.stored_file USING btree (account_id, id);
COMMENT ON stored_file IS 'The files in the store (docs/architecture/adr/0013). A row is written before the first byte of its file and deleted after the file, so that the sweeper finds a row for every file.';
COMMENT ON stored_file.owner_id IS 'The task whose file it is, or the execution whose answer it is.';
COMMENT ON stored_file.expires_at IS 'When the file may be deleted. A file that the sweeper has given up has expired with the epoch.';

CREATE TABLE stored_item (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  lists integer NOT NULL,
  listed_until timestamp with time zone NOT NULL,
  bytes integer NOT NULL,
  sealed_item text STORAGE EXTERNAL NOT NULL,
  CONSTRAINT stored_item_lists_check CHECK ((lists > 0)),
  CONSTRAINT stored_item_pkey PRIMARY KEY (account_id, id)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, fillfactor=80);
CREATE UNIQUE INDEX stored_item_pkey ON public.stored_item USING btree (account_id, id);
COMMENT ON stored_item IS 'Messages, calls of tools and their results, once each.';
COMMENT ON stored_item.lists IS 'How many stored responses list it. With the last of them it goes.';
COMMENT ON stored_item.listed_until IS 'When the last of these responses expires.';
COMMENT ON stored_item.sealed_item IS 'The item as JSON, encrypted for its id.';

CREATE TABLE stored_response (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  items uuid[] NOT NULL,
  output_items integer NOT NULL,
  bytes integer NOT NULL,
  sealed_response text STORAGE EXTERNAL NOT NULL,
  CONSTRAINT stored_response_output_items_check CHECK ((output_items >= 0)),
  CONSTRAINT stored_response_pkey PRIMARY KEY (account_id, id)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
CREATE INDEX stored_response_by_age ON public.stored_response USING btree (id, account_id);
CREATE INDEX stored_response_by_expiry ON public.stored_response USING btree (expires_at, account_id, id);
CREATE UNIQUE INDEX stored_response_pkey ON public.stored_response USING btree (account_id, id);
COMMENT ON stored_response IS 'Responses that can be read and continued. The id is that of the execution, so that later ones sort after earlier ones.';
COMMENT ON stored_response.items IS 'Its conversation in order: the items before it, its input, its output.';
COMMENT ON stored_response.output_items IS 'How many of the items, at the end, are its output.';
COMMENT ON stored_response.sealed_response IS 'The response without its output as JSON, encrypted for its id.';

CREATE TABLE task (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  api_key_id uuid,
  kind text NOT NULL,
  modality text NOT NULL,
  model text NOT NULL,
  client_request_id text,
  status text NOT NULL DEFAULT 'queued'::text,
  progress smallint,
  sealed_input text,
  details json NOT NULL,
  memory json NOT NULL DEFAULT '{}'::json,
  provider text NOT NULL,
  provider_base_url text NOT NULL,
  on_sandbox boolean NOT NULL,
  upstream_model text NOT NULL,
  provider_job_id text,
  found json STORAGE EXTERNAL,
  result json STORAGE EXTERNAL,
  error_code text,
  error_message text,
  reserved bigint NOT NULL,
  charged bigint,
  content json,
  webhook_url text,
  webhook_secret text,
  evidence_status text,
  evidence_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  completed_at timestamp with time zone,
  spend_period timestamp with time zone,
  unit text,
  quantity jsonb,
  unit_price jsonb,
  refunded bigint,
  delivered_late boolean NOT NULL DEFAULT false,
  provider_fault json,
  unknown_state text,
  endpoint text,
  maker_counted_at timestamp with time zone,
  run text,
  price_book jsonb,
  route_cost bigint,
  cost bigint,
  cancel_asked_at timestamp with time zone,
  CONSTRAINT task_check CHECK (((charged >= 0) AND (charged <= reserved))),
  CONSTRAINT task_check1 CHECK (((status = ANY (ARRAY['queued'::text, 'processing'::text])) = (completed_at IS NULL))),
  CONSTRAINT task_check2 CHECK (((status = 'succeeded'::text) = (charged IS NOT NULL))),
  CONSTRAINT task_check3 CHECK (((status = 'succeeded'::text) = (result IS NOT NULL))),
  CONSTRAINT task_check4 CHECK (((status = 'failed'::text) = (error_code IS NOT NULL))),
  CONSTRAINT task_check5 CHECK (((refunded >= 1) AND (refunded <= charged))),
  CONSTRAINT task_cost_check CHECK (((cost >= 0) AND (cost <= '1000000000000000'::bigint))) NOT VALID,
  CONSTRAINT task_cost_is_of_an_end CHECK (((cost IS NULL) OR (status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'expired'::text])))) NOT VALID,
  CONSTRAINT task_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT task_progress_check CHECK (((progress >= 0) AND (progress <= 100))),
  CONSTRAINT task_reserved_check CHECK ((reserved > 0)),
  CONSTRAINT task_route_cost_check CHECK (((route_cost >= 0) AND (route_cost <= '1000000000000000'::bigint))) NOT VALID,
  CONSTRAINT task_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'processing'::text, 'succeeded'::text, 'failed'::text, 'expired'::text, 'reconciliation_required'::text])))
) WITH (fillfactor=80);
CREATE INDEX task_by_id ON public.task USING btree (id);
CREATE INDEX task_by_status ON public.task USING btree (status, id);
CREATE INDEX task_by_time ON public.task USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX task_of_account_by_status ON public.task USING btree (account_id, status, id);
CREATE INDEX task_of_client_request ON public.task USING btree (account_id, client_request_id, id) WHERE (client_request_id IS NOT NULL);
CREATE INDEX task_open_responses ON public.task USING btree (account_id) WHERE ((kind = 'response'::text) AND (status = ANY (ARRAY['queued'::text, 'processing'::text])));
CREATE INDEX task_to_collect ON public.task USING btree (id) WHERE ((evidence_status = 'succeeded'::text) AND (status = ANY (ARRAY['failed'::text, 'expired'::text, 'reconciliation_required'::text])));
CREATE UNIQUE INDEX task_pkey ON public.task USING btree (account_id, id);
CREATE TRIGGER task_cost_is_final AFTER UPDATE OF cost ON public.task FOR EACH ROW WHEN ((old.cost IS NOT NULL)) EXECUTE FUNCTION cost_refuse_change();
CREATE TRIGGER task_counts_in_run AFTER UPDATE ON public.task FOR EACH ROW WHEN ((old.run IS NOT NULL)) EXECUTE FUNCTION task_note_run();
CREATE TRIGGER task_spends AFTER UPDATE ON public.task FOR EACH ROW WHEN (((new.spend_period IS NOT NULL) OR (old.status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'expired'::text])))) EXECUTE FUNCTION task_note_spend();
CREATE TRIGGER task_spends_for_maker AFTER UPDATE ON public.task FOR EACH ROW WHEN ((new.maker_counted_at IS NOT NULL)) EXECUTE FUNCTION task_note_for_maker();
CREATE TRIGGER task_tells AFTER UPDATE ON public.task FOR EACH ROW WHEN (((new.status <> old.status) AND (new.status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'expired'::text, 'reconciliation_required'::text])))) EXECUTE FUNCTION task_tell();
CREATE TRIGGER task_unexplained BEFORE UPDATE OF charged ON public.task FOR EACH ROW WHEN ((new.charged <> new.reserved)) EXECUTE FUNCTION task_unexplain();
COMMENT ON task IS 'One row per asynchronous task (decision G-53). The row is wide and stays; what remains to do is in task_work. What a task reserves is the row of the same id in hold. Locks are taken in the order work, task, account, idempotency key.';
COMMENT ON task.kind IS 'The operation: dubbing, song, video or the name of another task kind.';
COMMENT ON task.sealed_input IS 'The request, encrypted; null once the task has ended and needs it no more.';
COMMENT ON task.details IS 'The part of the request that the answers show.';
COMMENT ON task.memory IS 'What the steps of the task remember for the next step.';
COMMENT ON task.provider_base_url IS 'Where the provider is reached. A job is asked for where it was begun.';
COMMENT ON task.on_sandbox IS 'Whether the provider is the sandbox.';
COMMENT ON task.provider_job_id IS 'The id of the job at the provider; null until the provider accepted it.';
COMMENT ON task.found IS 'What the provider answered about the finished job, before its files are collected.';
COMMENT ON task.result IS 'What the caller receives.';
COMMENT ON task.reserved IS 'The price, which is held until the task ends.';
COMMENT ON task.charged IS 'What the task cost; null unless it succeeded.';
COMMENT ON task.content IS 'The stored file of the result and when it expires.';
COMMENT ON task.webhook_secret IS 'The secret that signs the webhooks, encrypted.';
COMMENT ON task.evidence_status IS 'What the provider was seen to say about the job after the task had ended or while its outcome was unknown.';
COMMENT ON task.spend_period IS 'Start of the period of its key''s limit in which the task counts; null: in none.';
COMMENT ON task.unit IS 'What the price counts. With quantity and unit_price it is the basis of the charge; all three are null where an operator set the charge by hand.';
COMMENT ON task.refunded IS 'What operators gave back of the charge.';
COMMENT ON task.delivered_late IS 'The task had failed or expired, and its result was delivered after all.';
COMMENT ON task.provider_fault IS 'What the provider said about its failure.';
COMMENT ON task.unknown_state IS 'A word of the provider for the state of the job that its adapter does not know.';
COMMENT ON task.endpoint IS 'The path of the call, for usage; null in rows of version 0.1.0, whose endpoint follows from the kind.';
COMMENT ON task.maker_counted_at IS 'When the task of a key that another key made was counted for its maker; null: the key has none.';
COMMENT ON task.run IS 'The run in which the task counts; null: in none.';
COMMENT ON task.price_book IS 'As execution.price_book.';
COMMENT ON task.route_cost IS 'What the task costs by its route if it succeeds, in micro-USD; null: the route has no cost.';
COMMENT ON task.cost IS 'As execution.cost.';
COMMENT ON task.cancel_asked_at IS 'When its holder asked to cancel it while a process ran it. Whoever runs it looks here.';

CREATE TABLE task_work (
  account_id uuid NOT NULL,
  task_id uuid NOT NULL,
  lane text NOT NULL,
  phase text NOT NULL,
  due_at timestamp with time zone NOT NULL DEFAULT now(),
  fence bigint NOT NULL DEFAULT 0,
  strikes smallint NOT NULL DEFAULT 0,
  submits integer NOT NULL DEFAULT 0,
  put_offs integer NOT NULL DEFAULT 0,
  put_off_at timestamp with time zone,
  CONSTRAINT task_work_phase_check CHECK ((phase = ANY (ARRAY['waiting'::text, 'submitting'::text, 'polling'::text, 'collecting'::text, 'watching'::text]))),
  CONSTRAINT task_work_pkey PRIMARY KEY (account_id, task_id)
) WITH (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.02, fillfactor=50);
CREATE INDEX task_work_due ON public.task_work USING btree (lane, due_at);
CREATE UNIQUE INDEX task_work_pkey ON public.task_work USING btree (account_id, task_id);
COMMENT ON task_work IS 'What remains to do on a task. The row is narrow and deleted when no work remains, so that finished tasks do not slow the statements of workers.';
COMMENT ON task_work.lane IS 'The step and the provider: step/provider. Each lane has a number of places in each process.';
COMMENT ON task_work.due_at IS 'When the next step may begin or, while a step runs, when its lease ends.';
COMMENT ON task_work.fence IS 'Counts the claims. The report of a worker counts only if its fence is the newest.';
COMMENT ON task_work.strikes IS 'How often in a row the step failed.';
COMMENT ON task_work.submits IS 'How often the task was sent to the provider.';
COMMENT ON task_work.put_offs IS 'How often in a row the provider had no room for the task; put_off_at is when that began.';

CREATE TABLE topup_page (
  is_only boolean NOT NULL DEFAULT true,
  url text,
  CONSTRAINT topup_page_is_only_check CHECK (is_only),
  CONSTRAINT topup_page_pkey PRIMARY KEY (is_only)
);
CREATE UNIQUE INDEX topup_page_pkey ON public.topup_page USING btree (is_only);
COMMENT ON topup_page IS 'Where accounts get more money (TOPUP_URL), with {account} for the id of the account; null: nowhere. One row, or none before the first start with that setting.';

CREATE TABLE usage_account (
  account_id uuid NOT NULL,
  charged bigint NOT NULL,
  cost numeric NOT NULL DEFAULT 0,
  CONSTRAINT usage_account_pkey PRIMARY KEY (account_id)
) WITH (fillfactor=50);
CREATE UNIQUE INDEX usage_account_pkey ON public.usage_account USING btree (account_id);
COMMENT ON usage_account IS 'The sum of the days of each account, for the audit.';

CREATE VIEW usage_call (
  account_id uuid,
  id uuid,
  created_at timestamp with time zone,
  is_final boolean,
  ended_at timestamp with time zone,
  api_key_id uuid,
  model text,
  endpoint text,
  is_failed boolean,
  quantity numeric,
  charged bigint,
  bucket smallint,
  held bigint,
  input_tokens bigint,
  cached_tokens bigint,
  output_tokens bigint,
  reasoning_tokens bigint,
  run text,
  provider text,
  upstream_model text,
  cost bigint,
  costed integer,
  below_cost integer
) AS SELECT account_id, id, created_at, (status <> 'running'::text) AS is_final, completed_at AS ended_at, COALESCE(api_key_id, '00000000-0000-0000-0000-000000000000'::uuid) AS api_key_id, model, endpoint, (status = 'failed'::text) AS is_failed, CASE WHEN (status <> 'succeeded'::text) THEN (0)::numeric WHEN (unit = 'token'::text) THEN (((quantity ->> 'promptTokens'::text))::numeric + ((quantity ->> 'completionTokens'::text))::numeric) ELSE COALESCE(((quantity #>> '{}'::text[]))::numeric, (0)::numeric) END AS quantity, CASE status WHEN 'succeeded'::text THEN charged WHEN 'failed'::text THEN COALESCE(( SELECT (- amount) FROM ledger_entry l WHERE ((account_id = account_id) AND (hold_id = id) AND (kind = 'charge'::text))), (0)::bigint) ELSE NULL::bigint END AS charged, usage_bucket((duration_ms)::bigint) AS bucket, held, CASE WHEN ((status = 'succeeded'::text) AND (unit = 'token'::text)) THEN COALESCE(((quantity ->> 'promptTokens'::text))::bigint, (0)::bigint) ELSE (0)::bigint END AS input_tokens, CASE WHEN ((status = 'succeeded'::text) AND (unit = 'token'::text)) THEN COALESCE(((quantity ->> 'cachedTokens'::text))::bigint, (0)::bigint) ELSE (0)::bigint END AS cached_tokens, CASE WHEN ((status = 'succeeded'::text) AND (unit = 'token'::text)) THEN COALESCE(((quantity ->> 'completionTokens'::text))::bigint, (0)::bigint) ELSE (0)::bigint END AS output_tokens, CASE WHEN ((status = 'succeeded'::text) AND (unit = 'token'::text)) THEN COALESCE(((quantity ->> 'reasoningTokens'::text))::bigint, (0)::bigint) ELSE (0)::bigint END AS reasoning_tokens, run, COALESCE(provider, ''::text) AS provider, COALESCE(upstream_model, ''::text) AS upstream_model, cost, CASE WHEN ((status = 'succeeded'::text) AND (cost IS NOT NULL)) THEN 1 ELSE 0 END AS costed, CASE WHEN ((status = 'succeeded'::text) AND (cost > charged)) THEN 1 ELSE 0 END AS below_cost FROM execution e UNION ALL SELECT account_id, id, created_at, (status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'expired'::text])) AS is_final, COALESCE(resolved_at, completed_at) AS ended_at, COALESCE(api_key_id, '00000000-0000-0000-0000-000000000000'::uuid) AS api_key_id, model, COALESCE(endpoint, task_former_endpoint(kind)) AS endpoint, ((status <> 'succeeded'::text) OR delivered_late) AS is_failed, CASE WHEN ((status <> 'succeeded'::text) OR delivered_late) THEN (0)::numeric WHEN (unit = 'token'::text) THEN (((quantity ->> 'promptTokens'::text))::numeric + ((quantity ->> 'completionTokens'::text))::numeric) WHEN (kind = ANY (ARRAY['dubbing'::text, 'song'::text, 'video'::text])) THEN (1)::numeric ELSE COALESCE(((quantity #>> '{}'::text[]))::numeric, (1)::numeric) END AS quantity, CASE WHEN delivered_late THEN (0)::bigint ELSE COALESCE(charged, (0)::bigint) END AS charged, usage_bucket(((EXTRACT(epoch FROM (completed_at - created_at)) * (1000)::numeric))::bigint) AS bucket, amount AS held, CASE WHEN (unit = 'token'::text) THEN COALESCE(((quantity ->> 'promptTokens'::text))::bigint, (0)::bigint) ELSE (0)::bigint END AS input_tokens, CASE WHEN (unit = 'token'::text) THEN COALESCE(((quantity ->> 'cachedTokens'::text))::bigint, (0)::bigint) ELSE (0)::bigint END AS cached_tokens, CASE WHEN (unit = 'token'::text) THEN COALESCE(((quantity ->> 'completionTokens'::text))::bigint, (0)::bigint) ELSE (0)::bigint END AS output_tokens, CASE WHEN (unit = 'token'::text) THEN COALESCE(((quantity ->> 'reasoningTokens'::text))::bigint, (0)::bigint) ELSE (0)::bigint END AS reasoning_tokens, run, CASE WHEN on_sandbox THEN 'sandbox'::text ELSE provider END AS provider, upstream_model, CASE WHEN delivered_late THEN (cost - COALESCE(( SELECT cost FROM late_charge l WHERE ((account_id = account_id) AND (id = id))), (0)::bigint)) ELSE cost END AS cost, CASE WHEN ((status = 'succeeded'::text) AND (NOT delivered_late) AND (cost IS NOT NULL)) THEN 1 ELSE 0 END AS costed, CASE WHEN ((status = 'succeeded'::text) AND (NOT delivered_late) AND (cost > charged)) THEN 1 ELSE 0 END AS below_cost FROM (task t LEFT JOIN hold h ON (((account_id = account_id) AND (id = id))));
COMMENT ON usage_call IS 'Every recorded call and task as usage counts it: whether it is final, when it ended, what it counts.';

CREATE TABLE usage_checkpoint (
  account_id uuid NOT NULL,
  "position" bigint NOT NULL,
  CONSTRAINT usage_checkpoint_pkey PRIMARY KEY (account_id)
);
CREATE UNIQUE INDEX usage_checkpoint_pkey ON public.usage_checkpoint USING btree (account_id);
COMMENT ON usage_checkpoint IS 'How far the audit of usage has read the entries of each account.';

CREATE TABLE usage_checkpoint_day (
  account_id uuid NOT NULL,
  day date NOT NULL,
  charged bigint NOT NULL,
  CONSTRAINT usage_checkpoint_day_pkey PRIMARY KEY (account_id, day)
);
CREATE UNIQUE INDEX usage_checkpoint_day_pkey ON public.usage_checkpoint_day USING btree (account_id, day);
COMMENT ON usage_checkpoint_day IS 'The sum of the entries of each account and day, as far as usage_checkpoint says.';

CREATE TABLE usage_day (
  account_id uuid NOT NULL,
  day date NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  calls bigint NOT NULL,
  failures bigint NOT NULL,
  quantity numeric NOT NULL,
  charged bigint NOT NULL,
  given_back bigint NOT NULL DEFAULT 0,
  input_tokens bigint NOT NULL DEFAULT 0,
  cached_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  reasoning_tokens bigint NOT NULL DEFAULT 0,
  cost numeric NOT NULL DEFAULT 0,
  costed bigint NOT NULL DEFAULT 0,
  below_cost bigint NOT NULL DEFAULT 0,
  provider text NOT NULL DEFAULT ''::text,
  upstream_model text NOT NULL DEFAULT ''::text,
  CONSTRAINT usage_day_pkey PRIMARY KEY (account_id, day, api_key_id, model, endpoint, provider, upstream_model)
) WITH (fillfactor=70);
CREATE INDEX usage_day_by_day ON public.usage_day USING btree (day);
CREATE UNIQUE INDEX usage_day_pkey ON public.usage_day USING btree (account_id, day, api_key_id, model, endpoint, provider, upstream_model);
COMMENT ON usage_day IS 'What was used, per day in UTC, account, key, model and endpoint. Rows whose account and key are zero have the sums of all accounts, for operators.';
COMMENT ON usage_day.charged IS 'What was charged on this day, less what was given back on it. This is what users see.';
COMMENT ON usage_day.given_back IS 'charged + given_back counts towards limits: there, what was given back leaves the day on which it was charged.';
COMMENT ON usage_day.input_tokens IS 'The whole prompts of calls that are sold by token; cached_tokens is a part of it, as reasoning_tokens is of output_tokens.';
COMMENT ON usage_day.cost IS 'What the calls cost at their providers, in micro-USD, as far as that is known. What is given back does not change it.';
COMMENT ON usage_day.costed IS 'How many calls that succeeded have a known cost. A late delivery whose cost is not known counts as -1, so that cost is whole where costed = calls - failures.';
COMMENT ON usage_day.below_cost IS 'How many calls were charged less than they cost.';
COMMENT ON usage_day.provider IS 'The provider that was called last, and upstream_model its name for the model; empty where none was called, and in sums of before this was kept.';

CREATE VIEW usage_given_back (
  account_id uuid,
  created_at timestamp with time zone,
  api_key_id uuid,
  model text,
  endpoint text,
  charged bigint,
  reversed_at timestamp with time zone,
  reason text,
  run text,
  provider text,
  upstream_model text,
  cost bigint,
  costed integer,
  below_cost integer
) AS SELECT account_id, created_at, COALESCE(api_key_id, api_key_id, '00000000-0000-0000-0000-000000000000'::uuid) AS api_key_id, COALESCE(model, model, ''::text) AS model, COALESCE(endpoint, endpoint, ''::text) AS endpoint, (- amount) AS charged, COALESCE(charged_at, ended_at, charged_at) AS reversed_at, reason, run, COALESCE(provider, ''::text) AS provider, COALESCE(upstream_model, ''::text) AS upstream_model, (0)::bigint AS cost, 0 AS costed, 0 AS below_cost FROM (((ledger_entry l LEFT JOIN LATERAL ( SELECT account_id, id, created_at, is_final, ended_at, api_key_id, model, endpoint, is_failed, quantity, charged, bucket, held, input_tokens, cached_tokens, output_tokens, reasoning_tokens, run, provider, upstream_model, cost, costed, below_cost FROM usage_call u WHERE ((account_id = account_id) AND (id = hold_id)) OFFSET 0) c ON (true)) LEFT JOIN late_reversal r ON (((account_id = account_id) AND (id = hold_id)))) LEFT JOIN late_charge p ON (((account_id = account_id) AND (id = hold_id)))) WHERE ((kind = 'correction'::text) AND (hold_id IS NOT NULL)) UNION ALL SELECT account_id, charged_at AS created_at, api_key_id, model, endpoint, charged, charged_at AS reversed_at, NULL::text AS reason, run, COALESCE(provider, ''::text) AS provider, COALESCE(upstream_model, ''::text) AS upstream_model, COALESCE(cost, (0)::bigint) AS cost, CASE WHEN (cost IS NULL) THEN '-1'::integer ELSE 0 END AS costed, CASE WHEN (cost > charged) THEN 1 ELSE 0 END AS below_cost FROM (late_charge p LEFT JOIN LATERAL ( SELECT run, CASE WHEN on_sandbox THEN 'sandbox'::text ELSE provider END AS provider, upstream_model FROM task WHERE ((account_id = account_id) AND (id = id)) OFFSET 0) t ON (true));
COMMENT ON usage_given_back IS 'What was given back of charges, and what was charged late. The amount of what was given back is negative. Only what was charged late has a cost.';

CREATE TABLE usage_held (
  account_id uuid NOT NULL,
  month date NOT NULL,
  held bigint NOT NULL,
  CONSTRAINT usage_held_pkey PRIMARY KEY (account_id, month)
) WITH (fillfactor=50);
CREATE UNIQUE INDEX usage_held_pkey ON public.usage_held USING btree (account_id, month);
COMMENT ON usage_held IS 'What calls and tasks held at the end of each month, added when they are folded. Those that are not folded yet are read one by one.';

CREATE TABLE usage_hour (
  account_id uuid NOT NULL,
  hour timestamp with time zone NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  calls bigint NOT NULL,
  failures bigint NOT NULL,
  quantity numeric NOT NULL,
  charged bigint NOT NULL,
  input_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  cost numeric NOT NULL,
  costed bigint NOT NULL,
  below_cost bigint NOT NULL,
  provider text NOT NULL,
  upstream_model text NOT NULL,
  CONSTRAINT usage_hour_pkey PRIMARY KEY (account_id, hour, api_key_id, model, endpoint, provider, upstream_model)
) WITH (fillfactor=70);
CREATE INDEX usage_hour_by_hour ON public.usage_hour USING btree (hour);
CREATE UNIQUE INDEX usage_hour_pkey ON public.usage_hour USING btree (account_id, hour, api_key_id, model, endpoint, provider, upstream_model);
COMMENT ON usage_hour IS 'What usage_day has, by hour. The hours of a day add up to the day.';

CREATE TABLE usage_hour_latency (
  account_id uuid NOT NULL,
  hour timestamp with time zone NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  bucket smallint NOT NULL,
  calls bigint NOT NULL,
  provider text NOT NULL,
  upstream_model text NOT NULL,
  CONSTRAINT usage_hour_latency_pkey PRIMARY KEY (account_id, hour, api_key_id, model, endpoint, bucket, provider, upstream_model)
) WITH (fillfactor=70);
CREATE INDEX usage_hour_latency_by_hour ON public.usage_hour_latency USING btree (hour);
CREATE UNIQUE INDEX usage_hour_latency_pkey ON public.usage_hour_latency USING btree (account_id, hour, api_key_id, model, endpoint, bucket, provider, upstream_model);
COMMENT ON usage_hour_latency IS 'How many of the calls of usage_hour took how long, by bucket (usage_bucket).';

CREATE TABLE usage_hour_refund (
  account_id uuid NOT NULL,
  hour timestamp with time zone NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  reason text NOT NULL,
  amount bigint NOT NULL,
  provider text NOT NULL,
  upstream_model text NOT NULL,
  CONSTRAINT usage_hour_refund_pkey PRIMARY KEY (account_id, hour, api_key_id, model, endpoint, reason, provider, upstream_model)
) WITH (fillfactor=70);
CREATE INDEX usage_hour_refund_by_hour ON public.usage_hour_refund USING btree (hour);
CREATE UNIQUE INDEX usage_hour_refund_pkey ON public.usage_hour_refund USING btree (account_id, hour, api_key_id, model, endpoint, reason, provider, upstream_model);
COMMENT ON usage_hour_refund IS 'What was given back of charges (usage_refund), by hour. It has no rows of all accounts.';

CREATE TABLE usage_latency (
  account_id uuid NOT NULL,
  day date NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  bucket smallint NOT NULL,
  calls bigint NOT NULL,
  provider text NOT NULL DEFAULT ''::text,
  upstream_model text NOT NULL DEFAULT ''::text,
  CONSTRAINT usage_latency_pkey PRIMARY KEY (account_id, day, api_key_id, model, endpoint, bucket, provider, upstream_model)
) WITH (fillfactor=70);
CREATE INDEX usage_latency_by_day ON public.usage_latency USING btree (day);
CREATE UNIQUE INDEX usage_latency_pkey ON public.usage_latency USING btree (account_id, day, api_key_id, model, endpoint, bucket, provider, upstream_model);
COMMENT ON usage_latency IS 'How many of the calls of usage_day took how long, by bucket (usage_bucket).';

CREATE TABLE usage_month (
  account_id uuid NOT NULL,
  month date NOT NULL,
  api_key_id uuid NOT NULL,
  calls bigint NOT NULL,
  failures bigint NOT NULL,
  quantity numeric NOT NULL,
  charged bigint NOT NULL,
  input_tokens bigint NOT NULL DEFAULT 0,
  cached_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  reasoning_tokens bigint NOT NULL DEFAULT 0,
  cost numeric NOT NULL DEFAULT 0,
  costed bigint NOT NULL DEFAULT 0,
  below_cost bigint NOT NULL DEFAULT 0,
  CONSTRAINT usage_month_pkey PRIMARY KEY (account_id, month, api_key_id)
) WITH (fillfactor=70);
CREATE INDEX usage_month_by_month ON public.usage_month USING btree (month);
CREATE UNIQUE INDEX usage_month_pkey ON public.usage_month USING btree (account_id, month, api_key_id);
COMMENT ON usage_month IS 'What each key used in each month, so that a year of all accounts and keys is read by month and not by day and model. It has no rows of all accounts.';

CREATE TABLE usage_month_latency (
  account_id uuid NOT NULL,
  month date NOT NULL,
  api_key_id uuid NOT NULL,
  bucket smallint NOT NULL,
  calls bigint NOT NULL,
  CONSTRAINT usage_month_latency_pkey PRIMARY KEY (account_id, month, api_key_id, bucket)
) WITH (fillfactor=70);
CREATE UNIQUE INDEX usage_month_latency_pkey ON public.usage_month_latency USING btree (account_id, month, api_key_id, bucket);
COMMENT ON usage_month_latency IS 'How many of the calls of usage_month took how long, by bucket (usage_bucket).';

CREATE TABLE usage_pending (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  CONSTRAINT usage_pending_pkey PRIMARY KEY (account_id, id)
);
CREATE UNIQUE INDEX usage_pending_pkey ON public.usage_pending USING btree (account_id, id);
COMMENT ON usage_pending IS 'Calls and tasks that were open when their interval was folded. They are added when they have ended.';

CREATE TABLE usage_refund (
  account_id uuid NOT NULL,
  day date NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  reason text NOT NULL,
  amount bigint NOT NULL,
  provider text NOT NULL DEFAULT ''::text,
  upstream_model text NOT NULL DEFAULT ''::text,
  CONSTRAINT usage_refund_pkey PRIMARY KEY (account_id, day, api_key_id, model, endpoint, reason, provider, upstream_model)
) WITH (fillfactor=70);
CREATE INDEX usage_refund_by_day ON public.usage_refund USING btree (day);
CREATE UNIQUE INDEX usage_refund_pkey ON public.usage_refund USING btree (account_id, day, api_key_id, model, endpoint, reason, provider, upstream_model);
COMMENT ON usage_refund IS 'What was given back of charges, on the day on which it was given back: usage_day.charged has it taken off. It has no rows of all accounts.';
COMMENT ON usage_refund.reason IS 'The reason that the operator told (ledger_entry.reason); empty where none was told, and where an error gave the charge back.';

CREATE TABLE usage_run (
  account_id uuid NOT NULL,
  day date NOT NULL,
  run text NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  calls bigint NOT NULL,
  failures bigint NOT NULL,
  quantity numeric NOT NULL,
  charged bigint NOT NULL,
  input_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  cost numeric NOT NULL DEFAULT 0,
  costed bigint NOT NULL DEFAULT 0,
  below_cost bigint NOT NULL DEFAULT 0,
  provider text NOT NULL DEFAULT ''::text,
  upstream_model text NOT NULL DEFAULT ''::text,
  CONSTRAINT usage_run_pkey PRIMARY KEY (account_id, day, run, api_key_id, model, endpoint, provider, upstream_model)
) WITH (fillfactor=70);
CREATE INDEX usage_run_by_day ON public.usage_run USING btree (day);
CREATE UNIQUE INDEX usage_run_pkey ON public.usage_run USING btree (account_id, day, run, api_key_id, model, endpoint, provider, upstream_model);
COMMENT ON usage_run IS 'What the calls of usage_day that name a run used, by run. It has no rows of all accounts.';

CREATE TABLE usage_run_latency (
  account_id uuid NOT NULL,
  day date NOT NULL,
  run text NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  bucket smallint NOT NULL,
  calls bigint NOT NULL,
  provider text NOT NULL DEFAULT ''::text,
  upstream_model text NOT NULL DEFAULT ''::text,
  CONSTRAINT usage_run_latency_pkey PRIMARY KEY (account_id, day, run, api_key_id, model, endpoint, bucket, provider, upstream_model)
) WITH (fillfactor=70);
CREATE INDEX usage_run_latency_by_day ON public.usage_run_latency USING btree (day);
CREATE UNIQUE INDEX usage_run_latency_pkey ON public.usage_run_latency USING btree (account_id, day, run, api_key_id, model, endpoint, bucket, provider, upstream_model);
COMMENT ON usage_run_latency IS 'How many of the calls of usage_run took how long, by bucket (usage_bucket).';

CREATE TABLE usage_run_refund (
  account_id uuid NOT NULL,
  day date NOT NULL,
  run text NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  reason text NOT NULL,
  amount bigint NOT NULL,
  provider text NOT NULL DEFAULT ''::text,
  upstream_model text NOT NULL DEFAULT ''::text,
  CONSTRAINT usage_run_refund_pkey PRIMARY KEY (account_id, day, run, api_key_id, model, endpoint, reason, provider, upstream_model)
) WITH (fillfactor=70);
CREATE INDEX usage_run_refund_by_day ON public.usage_run_refund USING btree (day);
CREATE UNIQUE INDEX usage_run_refund_pkey ON public.usage_run_refund USING btree (account_id, day, run, api_key_id, model, endpoint, reason, provider, upstream_model);
COMMENT ON usage_run_refund IS 'What usage_refund has of calls that name a run, by run.';

CREATE TABLE usage_state (
  is_only boolean NOT NULL DEFAULT true,
  folded_until timestamp with time zone NOT NULL,
  candidate_at timestamp with time zone,
  candidate_xid xid8,
  held_from timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  hours_from timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  CONSTRAINT usage_state_is_only_check CHECK (is_only),
  CONSTRAINT usage_state_pkey PRIMARY KEY (is_only)
);
CREATE UNIQUE INDEX usage_state_pkey ON public.usage_state USING btree (is_only);
COMMENT ON usage_state IS 'How far calls are folded into the sums of usage. One row, which is locked by whoever folds.';
COMMENT ON usage_state.folded_until IS 'All calls that began until then are in the sums or in usage_pending.';
COMMENT ON usage_state.candidate_at IS 'The next interval may end shortly before this time, once every transaction before candidate_xid has ended.';
COMMENT ON usage_state.held_from IS 'What was held at the ends of months is known (usage_held) of those that ended later.';
COMMENT ON usage_state.hours_from IS 'The sums of hours (usage_hour) are whole from then on: hours of before were dropped, or not counted.';

CREATE TABLE webhook_attempt (
  account_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  fence integer NOT NULL,
  started_at timestamp with time zone NOT NULL,
  status_code integer,
  error text,
  duration_ms integer NOT NULL,
  CONSTRAINT webhook_attempt_pkey PRIMARY KEY (account_id, delivery_id, fence)
);
CREATE UNIQUE INDEX webhook_attempt_pkey ON public.webhook_attempt USING btree (account_id, delivery_id, fence);
COMMENT ON webhook_attempt IS 'The log of the attempts of each delivery, at most the newest 100.';
COMMENT ON webhook_attempt.status_code IS 'The HTTP status of the answer; null where none came.';

CREATE TABLE webhook_delivery (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  owner_id uuid NOT NULL,
  url text NOT NULL,
  origin text NOT NULL,
  sealed_secret text,
  body bytea NOT NULL,
  status text NOT NULL DEFAULT 'pending'::text,
  retry integer DEFAULT 0,
  due_at timestamp with time zone,
  fence integer NOT NULL DEFAULT 0,
  is_under_way boolean NOT NULL DEFAULT false,
  created_at timestamp with time zone NOT NULL,
  event text,
  CONSTRAINT webhook_delivery_check CHECK (((status = 'pending'::text) = (due_at IS NOT NULL))),
  CONSTRAINT webhook_delivery_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT webhook_delivery_retry_check CHECK ((retry >= 0)),
  CONSTRAINT webhook_delivery_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
) WITH (fillfactor=80);
CREATE INDEX webhook_delivery_by_id ON public.webhook_delivery USING btree (id);
CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (due_at, origin) WHERE (status = 'pending'::text);
CREATE INDEX webhook_delivery_failed ON public.webhook_delivery USING btree (id) WHERE (status = 'failed'::text);
CREATE INDEX webhook_delivery_lane ON public.webhook_delivery USING btree (account_id, origin, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX webhook_delivery_of_event ON public.webhook_delivery USING btree (created_at) WHERE (event IS NOT NULL);
CREATE INDEX webhook_delivery_of_owner ON public.webhook_delivery USING btree (owner_id, id);
CREATE UNIQUE INDEX webhook_delivery_pkey ON public.webhook_delivery USING btree (account_id, id);
COMMENT ON webhook_delivery IS 'Webhooks and what became of them (decisions G-80 to G-83). A row is written in the transaction that ends its task.';
COMMENT ON webhook_delivery.owner_id IS 'The task that the webhook tells of; for an event of the account the endpoint that is told.';
COMMENT ON webhook_delivery.origin IS 'Scheme, host and port of the URL. The deliveries of an account to one origin are a lane.';
COMMENT ON webhook_delivery.sealed_secret IS 'The secret that signs the body, encrypted.';
COMMENT ON webhook_delivery.body IS 'The bytes that are sent, the same in each attempt.';
COMMENT ON webhook_delivery.retry IS 'Which wait of the schedule follows the next failure; null: none, because this attempt was requested by hand.';
COMMENT ON webhook_delivery.due_at IS 'When the next attempt may begin or, while an attempt runs, when its lease ends.';
COMMENT ON webhook_delivery.fence IS 'Counts the claims. The attempt of a worker that was paused beyond its lease is logged but changes nothing else.';
COMMENT ON webhook_delivery.event IS 'The type of the event of the account that it tells; null: the webhook of a task.';

CREATE TABLE webhook_endpoint (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  url text NOT NULL,
  origin text NOT NULL,
  sealed_secret text NOT NULL,
  events text[] NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT webhook_endpoint_events_check CHECK ((cardinality(events) > 0)),
  CONSTRAINT webhook_endpoint_pkey PRIMARY KEY (account_id, id)
);
CREATE INDEX webhook_endpoint_by_id ON public.webhook_endpoint USING btree (id);
CREATE UNIQUE INDEX webhook_endpoint_pkey ON public.webhook_endpoint USING btree (account_id, id);
COMMENT ON webhook_endpoint IS 'The endpoints of accounts, at most 10 each.';
COMMENT ON webhook_endpoint.sealed_secret IS 'The secret that signs its deliveries, encrypted for its id.';
COMMENT ON webhook_endpoint.events IS 'The types of the events that it is told.';

CREATE FUNCTION account_follow_lots() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'cc226b33adf6921a683c5db69bdf5ab7';

CREATE FUNCTION account_has_left(p_account uuid) RETURNS boolean LANGUAGE sql STABLE COST 100 AS '7f95a124624382fb63718d0ebf692cf6';

CREATE FUNCTION account_tell_depleted(p_account uuid) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'f40c7004d1701d205407c8dacbdcc19a';

CREATE FUNCTION account_tell_low() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 AS '016b59d1cafc162c5c2ef8278b21be00';

CREATE FUNCTION answer_keep(p_account uuid, p_id uuid, p_content_type text, p_headers jsonb, p_bytes integer, p_sealed text, p_max_bytes bigint) RETURNS boolean LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'f9fdd74b87683d668920b547163253fe';

CREATE FUNCTION answer_keep_file(p_account uuid, p_id uuid, p_content_type text, p_headers jsonb, p_bytes integer, p_file uuid, p_sealed_key text, p_max_bytes bigint) RETURNS boolean LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'd6e451d9ccc5421c930b8fcb0970aeb8';

CREATE FUNCTION answer_sweep(p_limit integer) RETURNS integer LANGUAGE plpgsql VOLATILE COST 100 SET jit=off, plan_cache_mode=force_generic_plan AS 'ecdd360a6fdf4563148625a559f55a8a';

CREATE FUNCTION api_key_note_change() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 AS 'a89ce451d2d175b1c400c7ea3bb33218';

CREATE FUNCTION call_key_claim(p_account uuid, p_endpoint text, p_key text, p_fingerprints bytea[], p_execution uuid, p_model text, p_api_key uuid, p_lease_ms integer, OUT outcome text, OUT execution uuid) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'b05205ff914c97d3d886b7e83bfa36a1';

CREATE FUNCTION call_status(p_account uuid, p_id uuid) RETURNS text LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'ea28762d303bfd41c15f562d4423e13a';

CREATE FUNCTION catalog_differences(p_models text[], p_prices jsonb[], p_files text[], p_file text) RETURNS TABLE(model text, price jsonb, file text) LANGUAGE sql VOLATILE COST 100 ROWS 1000 AS '2762343dfb369bd01c833b4447123498';

CREATE FUNCTION catalog_note_changes(p_models text[], p_prices jsonb[], p_files text[], p_file text) RETURNS integer LANGUAGE plpgsql VOLATILE COST 100 SET jit=off AS '219811996243121693253872e54a0323';

CREATE FUNCTION charge_due(p_unit text, p_quantity jsonb, p_unit_price jsonb) RETURNS numeric LANGUAGE sql IMMUTABLE COST 100 AS '6a5c5ded135a604bfde493e710c0e703';

CREATE FUNCTION charge_refund_v2(p_account uuid, p_id uuid, p_amount bigint, p_key text, p_note text, p_reason text, OUT outcome text, OUT entry bigint, OUT rest bigint, OUT is_new boolean) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '7d116efa79dead0ed17737d16f1e834f';

CREATE FUNCTION charge_rest(p_account uuid, p_id uuid) RETURNS bigint LANGUAGE plpgsql STABLE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '6840d749072ddf01d5e151352a54c5b9';

CREATE FUNCTION cost_refuse_change() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 AS '2a94b28b2b9050232746d9bc3c9a9a2a';

CREATE FUNCTION event_is_wanted(p_account uuid, p_type text) RETURNS boolean LANGUAGE plpgsql STABLE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '829c21ff51e40b84b422326b03148680';

CREATE FUNCTION event_tell(p_account uuid, p_type text, p_data json, p_only uuid DEFAULT NULL::uuid) RETURNS SETOF uuid LANGUAGE plpgsql VOLATILE COST 100 ROWS 1000 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'b7f2d53e4ce1c01b493030e381fa37af';

CREATE FUNCTION execution_cancel(p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text, p_error_code text, p_provider text, p_provider_request_id text) RETURNS text LANGUAGE plpgsql VOLATILE COST 100 SET jit=off AS 'd9b282829299e4feb0e0053c0d9940fa';

CREATE FUNCTION execution_cancel_record(p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text, p_error_code text, p_provider text, p_provider_request_id text) RETURNS text LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '8c3787623074f4e6c9cf61483d20011b';

CREATE FUNCTION execution_note_for_maker() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 AS '6ab648f040c7b7cf0cafcd70b7229854';

CREATE FUNCTION execution_note_spend() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 AS 'c64dc5a9ed1fe8379fa9802c00d09ea9';

CREATE FUNCTION execution_refund_v2(p_account uuid, p_id uuid, p_amount bigint, p_key text, p_note text, OUT outcome text, OUT entry bigint, OUT rest bigint) RETURNS record LANGUAGE sql VOLATILE COST 100 AS 'b0bd054251baebc59b06261fb75b75ef';

CREATE FUNCTION execution_refund_v3(p_account uuid, p_id uuid, p_amount bigint, p_key text, p_note text, p_reason text, OUT outcome text, OUT entry bigint, OUT rest bigint) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '70e3add26c72054215b23bff4819d2a6';

CREATE FUNCTION execution_release(p_account uuid, p_ids uuid[]) RETURNS integer LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '53b23cfa33dc85a14ca08d89cf9463f3';

CREATE FUNCTION execution_release_own(p_process uuid, p_ids uuid[], OUT released integer, OUT damaged uuid[]) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '481a46bae011725a46a02aff5286ae47';

CREATE FUNCTION execution_step_capped_v2(p_accounts uuid[], p_process uuid, p_waits boolean, e_account integer[], e_ids uuid[], e_charges bigint[], e_errors text[], e_providers text[], e_upstream_models text[], e_requests text[], e_units text[], e_quantities jsonb[], e_unit_prices jsonb[], e_estimated boolean[], e_first_byte_ms integer[], e_duration_ms integer[], e_provider_faults jsonb[], e_capped boolean[], e_figures jsonb[], e_uncharged jsonb[], s_account integer[], s_ids uuid[], s_amounts bigint[], s_keys uuid[], s_models text[], s_endpoints text[], s_client_requests text[], s_capped boolean[], OUT ended text[], OUT begun text[]) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'fd6d79a7bdb4682c0786396fb1ef57e6';

CREATE FUNCTION execution_step_v2(p_accounts uuid[], p_process uuid, p_waits boolean, e_account integer[], e_ids uuid[], e_charges bigint[], e_errors text[], e_providers text[], e_upstream_models text[], e_requests text[], e_units text[], e_quantities jsonb[], e_unit_prices jsonb[], e_estimated boolean[], e_first_byte_ms integer[], e_duration_ms integer[], e_provider_faults jsonb[], e_capped boolean[], e_figures jsonb[], e_uncharged jsonb[], s_account integer[], s_ids uuid[], s_amounts bigint[], s_keys uuid[], s_models text[], s_endpoints text[], s_client_requests text[], OUT ended text[], OUT begun text[]) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '494a8bef97f7e4f4dedadcddcb8807f2';

CREATE FUNCTION execution_step_v3(p_accounts uuid[], p_process uuid, p_waits boolean, e_account integer[], e_ids uuid[], e_charges bigint[], e_errors text[], e_providers text[], e_upstream_models text[], e_requests text[], e_units text[], e_quantities jsonb[], e_unit_prices jsonb[], e_estimated boolean[], e_first_byte_ms integer[], e_duration_ms integer[], e_provider_faults jsonb[], e_capped boolean[], e_figures jsonb[], e_uncharged jsonb[], e_output_caps integer[], e_costs bigint[], e_attempts jsonb[], e_run integer[], s_account integer[], s_ids uuid[], s_amounts bigint[], s_floors bigint[], s_prompts bigint[], s_keys uuid[], s_capped boolean[], s_models text[], s_endpoints text[], s_client_requests text[], s_run integer[], s_run_limits bigint[], s_price_books jsonb[], p_runs text[], p_run_accounts integer[], OUT ended text[], OUT begun text[], OUT amounts bigint[], OUT rooms bigint[], OUT bounds text[]) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'cd03eaf35efe1ea4295bd6810663b46c';

CREATE FUNCTION execution_sweep_open(p_judge uuid, p_spared uuid[], p_limit integer, OUT swept integer, OUT damaged uuid[], OUT is_behind boolean) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'a892de52750441076c22bcf78a9c4feb';

CREATE FUNCTION first_id_since(p_from timestamp with time zone) RETURNS uuid LANGUAGE sql IMMUTABLE COST 100 AS '804fbd4b115bc11a94ec761e88b25c69';

CREATE FUNCTION held_at_month_end(p_account uuid, p_month date) RETURNS bigint LANGUAGE sql STABLE COST 100 AS '16aae88f90aa973961ba298bfa996bfa';

CREATE FUNCTION hold_refuse_change() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 AS '28fd3f56f98993941129b30fbe38d7e3';

CREATE FUNCTION idempotency_claim(p_account uuid, p_endpoint text, p_key text, p_fingerprints bytea[], p_token uuid, p_lease_ms integer, OUT outcome text, OUT task uuid) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '4da5188d860428762145d565bdfad154';

CREATE FUNCTION idempotency_claim_sent(p_account uuid, p_endpoint text, p_key text, p_fingerprints bytea[], p_token uuid, p_lease_ms integer, p_sent bytea, OUT outcome text, OUT task uuid) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '1660bf6045c83e5c4ce9fa61959e9e81';

CREATE FUNCTION key_carry_late(p_account uuid, p_key uuid, p_id uuid) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '1dba170e0292a1654123b9f7a9a85495';

CREATE FUNCTION key_give_back(p_account uuid, p_key uuid, p_id uuid, p_created timestamp with time zone, p_charged timestamp with time zone, p_amount bigint) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '4c0911374937430f23fbe77705d69f56';

CREATE FUNCTION key_lock(p_account uuid, p_endpoint text, p_key text) RETURNS void LANGUAGE sql VOLATILE COST 100 AS 'a762a430e6ba8e79d955370a3ec2b0ad';

CREATE FUNCTION key_note_carried(p_account uuid, p_id uuid, p_created timestamp with time zone, p_amount bigint) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '405477ee222a843c82db4595b0e24f34';

CREATE FUNCTION key_note_heirs(p_account uuid, p_heirs uuid[], p_created timestamp with time zone, p_amount bigint) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '7c2a9d73de00ce64874602f56eec6faf';

CREATE FUNCTION key_note_spend(p_account uuid, p_key uuid, p_period_start timestamp with time zone, p_amount bigint) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'fc7979e2bc809cd959989b51cb2268dc';

CREATE FUNCTION key_pass_on(p_account uuid, p_key uuid, p_successor uuid) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '11f80bc3394ace77bb6511c701c20861';

CREATE FUNCTION key_period_start(p_period text, p_at timestamp with time zone) RETURNS timestamp with time zone LANGUAGE sql IMMUTABLE COST 100 AS '21bbc3b3e2672ab08d893138ae5f47ab';

CREATE FUNCTION key_room(p_account uuid, p_key uuid, OUT room bigint, OUT counts_in timestamp with time zone) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '1cdf4e3d0452178f50bbdb7298286da2';

CREATE FUNCTION key_room_of_any(p_account uuid, p_key uuid, OUT room bigint, OUT counts_in timestamp with time zone) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '8cdc146f87e8c2c289ec68f50fb8940d';

CREATE FUNCTION key_spent(p_account uuid, p_key uuid, p_from timestamp with time zone) RETURNS bigint LANGUAGE plpgsql STABLE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '99fcb4125209008d5bcb22f86aef8e0c';

CREATE FUNCTION key_tell_expiring() RETURNS integer LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '7d047d8e4ede1c3b7e4f3ed91fd60158';

CREATE FUNCTION key_tell_limit() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 AS '8e297f5e906efe564e622e71c14017ab';

CREATE FUNCTION key_unfolded(p_account uuid, p_key uuid) RETURNS TABLE(is_task boolean, id uuid, created_at timestamp with time zone, amount bigint, is_open boolean) LANGUAGE plpgsql STABLE COST 100 ROWS 1000 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '8f4f8b86ad5def224eb5c926188b85a0';

CREATE FUNCTION ledger_balance_at(p_account uuid, p_at timestamp with time zone, OUT balance bigint, OUT p_from bigint, OUT p_to bigint) RETURNS record LANGUAGE plpgsql STABLE COST 100 SET enable_bitmapscan=off, enable_seqscan=off, enable_sort=off, jit=off, plan_cache_mode=force_generic_plan AS '1b9b4723d96e10798bca1598f6faccc7';

CREATE FUNCTION ledger_credit(p_account uuid, p_amount bigint, p_kind text, p_key text, p_reference text, OUT outcome text, OUT entry bigint) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET jit=off AS 'd461f6f193de21ae45c7dc2ca4819b93';

CREATE FUNCTION ledger_credit_v2(p_account uuid, p_amount bigint, p_key text, p_reference text, p_reason text, p_credit_kind text, p_expires timestamp with time zone, p_payment_reference text, p_currency text, p_tax bigint, p_most_lots integer, OUT outcome text, OUT entry bigint) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'c96fc7edd3df5c9bec784cd4615d6269';

CREATE FUNCTION ledger_entry_refuse_change() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 AS 'eabafa5d9a7bcbe46a1cb1f6c383cdaa';

CREATE FUNCTION ledger_entry_refuse_deletion() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 AS '6b3f30b0d02b6e24f61d44963cda5e0d';

CREATE FUNCTION ledger_entry_refuse_excess() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, plan_cache_mode=force_generic_plan AS '4cadf7791a611119bdd8ca19d06fce4c';

CREATE FUNCTION ledger_hold(p_account uuid, p_id uuid, p_amount bigint, p_owner text) RETURNS text LANGUAGE plpgsql VOLATILE COST 100 SET jit=off AS '18c9da6ee690920dbe56fc6b90d5587a';

CREATE FUNCTION ledger_resolve(p_account uuid, p_id uuid, p_charge bigint) RETURNS text LANGUAGE plpgsql VOLATILE COST 100 SET jit=off AS '5751381e3141568e723b0cdab8e8f7f9';

CREATE FUNCTION limit_tell(p_account uuid, p_owner text, p_since text, p_limit bigint, p_used bigint, p_data jsonb) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '7c98a8cae1cfc8ec705e6977be10c675';

CREATE FUNCTION lots_claim(p_limit integer, p_look_ms integer) RETURNS SETOF uuid LANGUAGE plpgsql VOLATILE COST 100 ROWS 1000 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '07426377c5301ae3388d07cac2d48d0f';

CREATE FUNCTION lots_expire(p_account uuid) RETURNS integer LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '2a3c5b05a491e266fcb940f464391b93';

CREATE FUNCTION lots_return(p_entry ledger_entry) RETURNS bigint LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'f5ccf7b10ceaab22e7d3052abffe1240';

CREATE FUNCTION lots_take(p_entry ledger_entry, p_in_lots bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '0672d8d6d9511b608c75df8db7d386f6';

CREATE FUNCTION maker_note_spend(p_account uuid, p_key uuid, p_counted_at timestamp with time zone, p_amount bigint) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '9d9d969cf5d43cfe2f57530f584e227b';

CREATE FUNCTION maker_pass_on(p_account uuid, p_key uuid, p_successor uuid) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '582b15fddc1aad0b9db45c540b1eab7f';

CREATE FUNCTION maker_spent(p_account uuid, p_maker uuid, p_from timestamp with time zone) RETURNS bigint LANGUAGE plpgsql STABLE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '59cd6b6d7fdbd84750f4c11eb6531dba';

CREATE FUNCTION month_is_closed(p_account uuid, p_ended_at timestamp with time zone) RETURNS boolean LANGUAGE sql STABLE COST 100 AS '3434b6aa21f01915e3d7b14cd471fb68';

CREATE FUNCTION process_beat(p_id uuid, p_lease_ms integer, p_open_calls integer, p_oldest_age_ms bigint) RETURNS void LANGUAGE sql VOLATILE COST 100 AS '3bc968c58e88256b4411b046f5ea0a60';

CREATE FUNCTION process_beat_v2(p_id uuid, p_lease_ms integer, p_open_calls integer, p_oldest_age_ms bigint, p_version text) RETURNS void LANGUAGE sql VOLATILE COST 100 AS 'a5ff1a1425481aa126200f0d49478bf6';

CREATE FUNCTION record_drop_calls(p_days integer, p_limit integer, OUT seen integer, OUT dropped integer) RETURNS record LANGUAGE plpgsql VOLATILE SECURITY DEFINER COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=public, pg_temp AS 'f01100bdfa5b9cbcf69c968daa02580b';

CREATE FUNCTION record_drop_tasks(p_days integer, p_limit integer, OUT seen integer, OUT dropped integer) RETURNS record LANGUAGE plpgsql VOLATILE SECURITY DEFINER COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=public, pg_temp AS '1f60f9ac434d7e1245a5a8b49f565d44';

CREATE FUNCTION record_give_back(p_account uuid, p_id uuid) RETURNS text LANGUAGE plpgsql VOLATILE SECURITY DEFINER COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=public, pg_temp AS '3c95cd70d34b9819f1296fc550340a8f';

CREATE FUNCTION record_is_proven(p_account uuid, p_id uuid, p_before timestamp with time zone) RETURNS boolean LANGUAGE sql STABLE COST 100 AS '71625a117af106999f2b280610b7f28d';

CREATE FUNCTION record_note_dropped(p_accounts uuid[], p_ids uuid[]) RETURNS void LANGUAGE sql VOLATILE SECURITY DEFINER COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, plan_cache_mode=force_generic_plan, search_path=public, pg_temp AS '413e0070c42ebd5cee64a86d3031524d';
REVOKE EXECUTE ON record_note_dropped FROM PUBLIC;

CREATE FUNCTION record_note_dropped_costs(p_accounts uuid[], p_costs bigint[]) RETURNS void LANGUAGE sql VOLATILE SECURITY DEFINER COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, plan_cache_mode=force_generic_plan, search_path=public, pg_temp AS '169caaaf35982bf70fd0d1e7d5080764';
REVOKE EXECUTE ON record_note_dropped_costs FROM PUBLIC;

CREATE FUNCTION record_note_late_reversal(p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=public, pg_temp AS '4eda3d49d8b7bc525cad14ec16f77c8c';

CREATE FUNCTION record_proven(OUT calls timestamp with time zone, OUT tasks timestamp with time zone) RETURNS record LANGUAGE sql STABLE COST 100 AS 'c61255d4998d5936473b41de2629f78e';

CREATE FUNCTION response_deleted_body(p_id uuid) RETURNS bytea LANGUAGE sql IMMUTABLE COST 100 AS '245ea80787c786eee48344e011579476';

CREATE FUNCTION response_drop(p_account uuid, p_id uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '559c3ad0f5fda728bdc0297010a95499';

CREATE FUNCTION response_drop_free(p_account uuid, p_id uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '4111b7f204874130f9cf005926911f9f';

CREATE FUNCTION response_erase(p_account uuid) RETURNS integer LANGUAGE plpgsql VOLATILE COST 100 SET jit=off, plan_cache_mode=force_generic_plan AS '417497d7e5ea127828260fcedcab246f';

CREATE FUNCTION response_forget(p_account uuid, p_id uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '416a0fd5999b973acfc3fcd6023321f2';

CREATE FUNCTION response_redact(p_accounts uuid[], p_ids uuid[]) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'a096402ea461f3779b8ec2199f80258c';

CREATE FUNCTION response_redact_free(p_account uuid, p_id uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE COST 100 SET enable_bitmapscan=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'ab119ad4652e3515a0d9129ed2945c0c';

CREATE FUNCTION response_store(p_account uuid, p_id uuid, p_days integer, p_items uuid[], p_output_items integer, p_sealed text, p_new_ids uuid[], p_new_sealed text[], p_max_bytes bigint) RETURNS boolean LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '23b8b90deb9d780f23b44b35da4ceb7f';

CREATE FUNCTION response_sweep(p_max_bytes bigint, p_limit integer) RETURNS integer LANGUAGE plpgsql VOLATILE COST 100 SET jit=off, plan_cache_mode=force_generic_plan AS 'f93b4e7cf64424e54c8971ff0f452019';

CREATE FUNCTION run_began_before(p_run timestamp with time zone, p_call timestamp with time zone) RETURNS boolean LANGUAGE sql IMMUTABLE COST 100 AS '45576940014e0a3b8d026a02d5d2ca37';

CREATE FUNCTION run_count(p_account uuid, p_run text, p_created timestamp with time zone, p_held bigint, p_spent bigint) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '9e5b38a974d1384f4cda40791f55c852';

CREATE FUNCTION run_drop(p_limit integer) RETURNS integer LANGUAGE plpgsql VOLATILE COST 100 SET jit=off, plan_cache_mode=force_generic_plan AS 'b0b73aac5676027822eb6c2d2006d8c9';

CREATE FUNCTION run_note_dropped(p_accounts uuid[], p_runs text[], p_created timestamp with time zone[], p_ids uuid[]) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '7cdb1e63f2debc42e23e79ed809dccdd';

CREATE FUNCTION run_tell_limit(p_account uuid, p_run text) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '28542002e93a71fda9c2c9d04d76d93d';

CREATE FUNCTION task_advance(p_accounts uuid[], p_ids uuid[], p_fences bigint[], p_lanes text[], p_phases text[], p_delays_ms bigint[], p_strikes smallint[], p_facts json[]) RETURNS SETOF uuid LANGUAGE plpgsql VOLATILE COST 100 ROWS 1000 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '0bc2e8f527734d57f235a1f531ac672a';

CREATE FUNCTION task_cancel(p_account uuid, p_id uuid) RETURNS text LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '7a48112b49633e905eebfa8e72ea5f20';

CREATE FUNCTION task_cancel(p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_kind text) RETURNS text LANGUAGE plpgsql VOLATILE COST 100 SET jit=off AS '36fa5ed521c1367673ad90dbece26708';

CREATE FUNCTION task_cancel_v2(p_account uuid, p_id uuid, p_api_key uuid, p_model text, p_endpoint text) RETURNS text LANGUAGE plpgsql VOLATILE COST 100 SET jit=off AS '04b5947089b458e8e0d35ddfe9655c85';

CREATE FUNCTION task_charge_late(p_account uuid, p_id uuid, p_charge bigint) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan, search_path=public, pg_temp AS '35e350c86c71072805a85f6faf20ad55';

CREATE FUNCTION task_claim_sharing(p_steps text[], p_step_rooms integer[], p_lanes text[], p_rooms integer[], p_held_lanes text[], p_held_accounts uuid[], p_held integer[], p_share integer, p_accounts integer, p_mine uuid[], p_lease_ms integer) RETURNS TABLE(claimed task, phase text, fence bigint, strikes smallint, submits integer, put_offs integer, put_off_ms double precision) LANGUAGE plpgsql VOLATILE COST 100 ROWS 1000 SET enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '33320a9c5a634b814ec93ac7ace881aa';

CREATE FUNCTION task_complete(p_account uuid, p_id uuid, p_fence bigint, p_from text, p_unsent boolean, p_status text, p_money text, p_charge bigint, p_has_basis boolean, p_progress smallint, p_memory json, p_result json, p_error_code text, p_error_message text, p_fault json, p_content json, p_completed timestamp with time zone, p_watch_lane text, p_watch_ms bigint, p_delivery uuid, p_url text, p_origin text, p_sealed_secret text, p_body bytea, p_told timestamp with time zone, p_cost bigint DEFAULT NULL::bigint, p_basis jsonb DEFAULT NULL::jsonb, p_response json DEFAULT NULL::json) RETURNS boolean LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '87788adb68f2826d4b57a7bde149d31a';

CREATE FUNCTION task_cost_late(p_account uuid, p_id uuid, p_cost bigint) RETURNS void LANGUAGE sql VOLATILE SECURITY DEFINER COST 100 SET enable_seqscan=off, jit=off, search_path=public, pg_temp AS 'de905bed4cf30ddd428d5cbfb90a2b63';

CREATE FUNCTION task_end(p_account uuid, p_id uuid, p_fence bigint, p_from text[], p_status text, p_money text, p_charge bigint, p_progress smallint, p_memory json, p_result json, p_error_code text, p_error_message text, p_content json, p_completed timestamp with time zone, p_watch_lane text, p_watch_ms bigint, p_unsent boolean) RETURNS boolean LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '6c58345685c63051d8677848f3581060';

CREATE FUNCTION task_end_explaining(p_account uuid, p_id uuid, p_fence bigint, p_from text, p_status text, p_money text, p_charge bigint, p_progress smallint, p_memory json, p_result json, p_error_code text, p_error_message text, p_content json, p_completed timestamp with time zone, p_watch_lane text, p_watch_ms bigint, p_unsent boolean, p_fault json, p_delivery uuid, p_url text, p_origin text, p_sealed_secret text, p_body bytea, p_told timestamp with time zone) RETURNS boolean LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '391e4364027db546aa495e16671868b0';

CREATE FUNCTION task_end_lock(p_accounts uuid[], p_ids uuid[]) RETURNS boolean LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '07268cb81817be50ccc07f22ac4a261e';

CREATE FUNCTION task_end_telling(p_account uuid, p_id uuid, p_fence bigint, p_from text, p_status text, p_money text, p_charge bigint, p_progress smallint, p_memory json, p_result json, p_error_code text, p_error_message text, p_content json, p_completed timestamp with time zone, p_watch_lane text, p_watch_ms bigint, p_unsent boolean, p_delivery uuid, p_url text, p_origin text, p_sealed_secret text, p_body bytea, p_told timestamp with time zone) RETURNS boolean LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '3dc23a280a34f1b3f1bb0e44a91b2d42';

CREATE FUNCTION task_former_endpoint(p_kind text) RETURNS text LANGUAGE sql IMMUTABLE COST 100 AS 'f927b9667119939686a887c07abd8a74';

CREATE FUNCTION task_keep_job(p_account uuid, p_id uuid, p_job_id text, p_watch_lane text, p_watch_ms bigint) RETURNS boolean LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '430e110bfb2684f2c7e18cf6855521b5';

CREATE FUNCTION task_keep_job_v2(p_account uuid, p_id uuid, p_job_id text, p_watch_lane text, p_watch_ms bigint, p_others_ms bigint) RETURNS text LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '9a7b585dabac5a5487f20f8903fcce76';

CREATE FUNCTION task_note_for_maker() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 AS 'b3e23f219f123cbd01c23b761a84db89';

CREATE FUNCTION task_note_run() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 AS 'a4ae79c651df88d4638ee3ee30220699';

CREATE FUNCTION task_note_spend() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 AS '98af8bc4d3a8d47de666fecfbbd2f099';

CREATE FUNCTION task_open_count(p_account uuid, p_kind text, p_most integer) RETURNS bigint LANGUAGE plpgsql STABLE COST 100 SET enable_bitmapscan=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'd1e9035497b4355b2de4e375fce32268';

CREATE FUNCTION task_refund_v2(p_account uuid, p_id uuid, p_amount bigint, p_key text, p_note text, OUT outcome text, OUT entry bigint, OUT rest bigint) RETURNS record LANGUAGE sql VOLATILE COST 100 AS 'f32bc4ad605be52e82d39e8a35b3b7b2';

CREATE FUNCTION task_refund_v3(p_account uuid, p_id uuid, p_amount bigint, p_key text, p_note text, p_reason text, OUT outcome text, OUT entry bigint, OUT rest bigint) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS 'd78f7183f95d40c18825fc6e41982215';

CREATE FUNCTION task_submit(p_account uuid, p_id uuid, p_api_key uuid, p_kind text, p_modality text, p_model text, p_client_request text, p_input text, p_details json, p_provider text, p_base_url text, p_on_sandbox boolean, p_upstream_model text, p_lane text, p_amount bigint, p_unit text, p_quantity jsonb, p_unit_price jsonb, p_webhook_url text, p_webhook_secret text, p_endpoint text, p_key text, p_token uuid, OUT outcome text, OUT created timestamp with time zone) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '7699404930b3bac990fddb0419c159c2';

CREATE FUNCTION task_submit_capped(p_account uuid, p_id uuid, p_api_key uuid, p_kind text, p_modality text, p_model text, p_client_request text, p_input text, p_details json, p_provider text, p_base_url text, p_on_sandbox boolean, p_upstream_model text, p_lane text, p_amount bigint, p_unit text, p_quantity jsonb, p_unit_price jsonb, p_webhook_url text, p_webhook_secret text, p_endpoint text, p_key text, p_token uuid, OUT outcome text, OUT created timestamp with time zone) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '08e3ac8ba6250482541d098d00d86b7b';

CREATE FUNCTION task_submit_v2(p_account uuid, p_id uuid, p_api_key uuid, p_kind text, p_modality text, p_model text, p_client_request text, p_input text, p_details json, p_provider text, p_base_url text, p_on_sandbox boolean, p_upstream_model text, p_lane text, p_amount bigint, p_unit text, p_quantity jsonb, p_unit_price jsonb, p_webhook_url text, p_webhook_secret text, p_endpoint text, p_key text, p_token uuid, p_capped boolean, p_run text, p_run_limit bigint, p_price_book jsonb, p_route_cost bigint DEFAULT NULL::bigint, p_floor bigint DEFAULT NULL::bigint, p_prompt bigint DEFAULT NULL::bigint, p_most_open integer DEFAULT NULL::integer, OUT outcome text, OUT created timestamp with time zone, OUT room bigint, OUT reserved bigint, OUT bound_by text) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '193fbc3d731fd2b72ed730891f619684';

CREATE FUNCTION task_take_found_job(p_account uuid, p_id uuid, p_lane text, p_job_id text, p_from timestamp with time zone, p_to timestamp with time zone) RETURNS boolean LANGUAGE plpgsql VOLATILE COST 100 SET enable_seqscan=off, jit=off AS 'ac35834525492883c343cb8de1173619';

CREATE FUNCTION task_tell() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 AS 'be208539cc153dd2c9bbb6a4efdfb43c';

CREATE FUNCTION task_unexplain() RETURNS trigger LANGUAGE plpgsql VOLATILE COST 100 AS '400040362957578849f92d3b267b5e5e';

CREATE FUNCTION topup_url_of(p_account uuid) RETURNS text LANGUAGE sql STABLE COST 100 AS '2766bdd7946599025caa29225358f21a';

CREATE FUNCTION usage_bucket(p_ms bigint) RETURNS smallint LANGUAGE sql IMMUTABLE COST 100 AS 'ca83653ec7b8f4871242bc779eb2cc1f';

CREATE FUNCTION usage_fold(p_span interval, p_margin interval, OUT folded bigint, OUT is_behind boolean) RETURNS record LANGUAGE plpgsql VOLATILE COST 100 SET jit=off AS 'a142bd0d33a13fb8b837fd08d00312e6';

CREATE FUNCTION usage_folded_until() RETURNS timestamp with time zone LANGUAGE plpgsql STABLE COST 1000 SET jit=off AS '93f850a1a8599aaa47f27ac244f72629';

CREATE FUNCTION usage_hour_of(p_at timestamp with time zone) RETURNS timestamp with time zone LANGUAGE sql IMMUTABLE COST 100 AS '90e6a1a5776e58244308c3c5fca91da1';

CREATE FUNCTION usage_hour_refunds(p_account uuid, p_from timestamp with time zone, p_to timestamp with time zone) RETURNS TABLE(hour timestamp with time zone, account_id uuid, api_key_id uuid, model text, endpoint text, reason text, amount bigint, provider text, upstream_model text) LANGUAGE sql STABLE COST 100 ROWS 1000 AS 'fc32e2fc192b66e9883d5f5330b8774f';

CREATE FUNCTION usage_recent(p_account uuid) RETURNS TABLE(day date, account_id uuid, api_key_id uuid, model text, endpoint text, calls integer, failures integer, quantity numeric, charged bigint, bucket smallint) LANGUAGE sql STABLE COST 100 ROWS 1000 AS '2b66a6a3f4d88e6b653730d05652a37a';

CREATE FUNCTION usage_recent_v2(p_account uuid) RETURNS TABLE(day date, account_id uuid, api_key_id uuid, model text, endpoint text, calls integer, failures integer, quantity numeric, charged bigint, bucket smallint, input_tokens bigint, cached_tokens bigint, output_tokens bigint, reasoning_tokens bigint, run text, provider text, upstream_model text, cost bigint, costed integer, below_cost integer, hour timestamp with time zone) LANGUAGE sql STABLE COST 100 ROWS 1000 AS 'd8c1216f628e06c1e51b7561f710a827';

CREATE FUNCTION usage_refunds(p_account uuid, p_from date, p_to date) RETURNS TABLE(day date, account_id uuid, api_key_id uuid, model text, endpoint text, reason text, amount bigint, provider text, upstream_model text) LANGUAGE sql STABLE COST 100 ROWS 1000 AS '487a05cb8c3066331cef0af9270f23c5';

CREATE FUNCTION usage_run_refunds(p_account uuid, p_from date, p_to date) RETURNS TABLE(day date, account_id uuid, api_key_id uuid, model text, endpoint text, run text, reason text, amount bigint, provider text, upstream_model text) LANGUAGE sql STABLE COST 100 ROWS 1000 AS 'b24348a9835839c58e1fbc43aa1a7fc6';

CREATE FUNCTION webhook_claim(p_from uuid, p_lanes integer, p_lease_ms integer, p_limit integer, p_origin_room integer, p_origins text[], p_origin_rooms integer[], p_account_room integer, p_accounts uuid[], p_account_rooms integer[]) RETURNS SETOF webhook_delivery LANGUAGE plpgsql VOLATILE COST 100 ROWS 1000 SET enable_hashjoin=off, enable_incremental_sort=off, enable_mergejoin=off, enable_seqscan=off, enable_sort=off, jit=off, plan_cache_mode=force_generic_plan AS 'a5fba14324644c669d986bc6a9be76e4';

CREATE FUNCTION webhook_enqueue(p_account uuid, p_id uuid, p_owner uuid, p_url text, p_origin text, p_sealed_secret text, p_body bytea, p_created timestamp with time zone) RETURNS void LANGUAGE sql VOLATILE COST 100 AS '54211d214547e3c6d4f9cb34593a1040';

CREATE FUNCTION webhook_record(p_accounts uuid[], p_ids uuid[], p_fences integer[], p_started timestamp with time zone[], p_status_codes integer[], p_errors text[], p_durations integer[], p_statuses text[], p_retries integer[], p_waits bigint[]) RETURNS void LANGUAGE plpgsql VOLATILE COST 100 SET enable_hashjoin=off, enable_mergejoin=off, enable_seqscan=off, jit=off, plan_cache_mode=force_generic_plan AS '75623a6b1a637fad29bd34e27a83a0d9';
