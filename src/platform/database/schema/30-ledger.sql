CREATE TABLE ledger_entry (
  account_id uuid NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  hold_id uuid,
  kind text NOT NULL,
  amount bigint NOT NULL,
  balance_after bigint NOT NULL,
  reference text,
  idempotency_key text,
  created_at timestamptz NOT NULL DEFAULT now(),
  owner text,
  refund_key text,
  reason text,
  credit_kind text,
  expires_at timestamptz,
  payment_reference text,
  currency text,
  tax bigint,
  credit_position bigint,
  PRIMARY KEY (account_id, position)
);
-- One constraint, because PostgreSQL reads the text of each anew in every statement that writes the table. Not valid, so that a
-- database of before need not read all its entries; new ones are checked.
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_entry_is_sound CHECK (
  amount <> 0 AND balance_after >= 0 AND
  CASE kind
    WHEN 'charge' THEN
      amount < 0 AND hold_id IS NOT NULL
      AND num_nonnulls(refund_key, reason, credit_kind, expires_at, payment_reference, currency, tax, credit_position) = 0
    WHEN 'credit' THEN
      amount > 0 AND credit_kind IN ('paid', 'granted') AND tax >= 0
      AND num_nonnulls(hold_id, refund_key, reason, credit_position) = 0
    WHEN 'correction' THEN
      reason IN ('goodwill', 'fault', 'billing_error') AND (refund_key IS NULL OR hold_id IS NOT NULL)
      AND num_nonnulls(credit_kind, expires_at, payment_reference, currency, tax, credit_position) = 0
    WHEN 'expiry' THEN
      amount < 0 AND credit_position < position
      AND num_nonnulls(hold_id, refund_key, reason, credit_kind, expires_at, payment_reference, currency, tax) = 0
    ELSE false END) NOT VALID;
CREATE UNIQUE INDEX ledger_entry_one_charge_per_hold ON ledger_entry (account_id, hold_id) WHERE kind = 'charge';
CREATE UNIQUE INDEX ledger_entry_one_per_key ON ledger_entry (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX ledger_entry_corrections_of_hold ON ledger_entry (account_id, hold_id, refund_key)
  WHERE kind = 'correction' AND hold_id IS NOT NULL;
CREATE INDEX ledger_entry_given_back ON ledger_entry (created_at) WHERE kind = 'correction' AND hold_id IS NOT NULL;
-- Finds credits and corrections among millions of charges. Charges are not in it, so a call costs the same.
CREATE INDEX ledger_entry_other ON ledger_entry (account_id, position) WHERE kind <> 'charge';

COMMENT ON TABLE ledger_entry IS 'Every change of the balance of every account (decision G-29). Entries are never changed, and deleted only when the account has moved to another cell: triggers refuse it. Another trigger refuses corrections of a call or task that are together more than its charge.';
COMMENT ON COLUMN ledger_entry.position IS 'The order of the entries of an account.';
COMMENT ON COLUMN ledger_entry.hold_id IS 'The call or task that was charged, or whose charge is given back; null for credits, and for corrections by operators that name none.';
COMMENT ON COLUMN ledger_entry.kind IS 'credit: money that was paid in. charge: what a call or task cost. correction: what was given back of a charge, or what an operator set right. expiry: what was left of a credit when it ended.';
COMMENT ON COLUMN ledger_entry.amount IS 'What the balance gained; a charge is negative.';
COMMENT ON COLUMN ledger_entry.balance_after IS 'The balance after this entry.';
COMMENT ON COLUMN ledger_entry.reference IS 'A note: of an operator, or "reversal" where an error gave the charge back.';
COMMENT ON COLUMN ledger_entry.idempotency_key IS 'The idempotency key of the operator who wrote the entry, once per account.';
COMMENT ON COLUMN ledger_entry.owner IS 'The owner of the hold of a charge, for example task; null for a call.';
COMMENT ON COLUMN ledger_entry.reason IS 'Why an operator refunded or corrected: goodwill, fault (the work was bad or did not arrive) or billing_error; null where none was told.';
COMMENT ON COLUMN ledger_entry.refund_key IS 'The operator''s idempotency key of a refund. It belongs to the call or task, not to the account as that of a credit.';

COMMENT ON COLUMN ledger_entry.credit_kind IS 'Of a credit: paid or granted. Null in credits of version 0.1.0, which are paid.';
COMMENT ON COLUMN ledger_entry.expires_at IS 'Of a credit: when what is left of it expires; null: never.';
COMMENT ON COLUMN ledger_entry.payment_reference IS 'Of a credit: what the payment is called elsewhere.';
COMMENT ON COLUMN ledger_entry.currency IS 'Of a credit: the currency that was paid in, as ISO 4217 names it.';
COMMENT ON COLUMN ledger_entry.tax IS 'Of a credit: the tax in what was paid, in micro-USD.';
COMMENT ON COLUMN ledger_entry.credit_position IS 'Of an expiry: the position of the credit that expired.';

CREATE TABLE hold (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  amount bigint NOT NULL,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'settled', 'released')),
  owner text NOT NULL,
  settled_amount bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  PRIMARY KEY (account_id, id),
  CHECK (amount > 0 OR (amount = 0 AND state = 'released')),
  CHECK ((state = 'settled') = (settled_amount IS NOT NULL)),
  CHECK (settled_amount BETWEEN 0 AND amount),
  CHECK ((state = 'open') = (resolved_at IS NULL))
) WITH (fillfactor = 60);
CREATE INDEX hold_by_time ON hold USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);

COMMENT ON TABLE hold IS 'What tasks reserve of the balance. A synchronous call has no hold of its own: its row in execution is one. A hold that is settled or released is final: a trigger refuses to change it.';
COMMENT ON COLUMN hold.id IS 'The id of the task.';
COMMENT ON COLUMN hold.amount IS 'What is reserved; 0 where a task was cancelled before it arrived.';
COMMENT ON COLUMN hold.owner IS 'What holds it: task, or cancelled where no task ever did.';
COMMENT ON COLUMN hold.settled_amount IS 'What was charged.';
