-- Which money a balance consists of. Only credits that were granted or that expire are followed, each as a lot; the rest of a
-- balance is paid money that does not expire. A trigger of the account follows every entry of an account that has money in lots,
-- whichever function wrote it; accounts without such money have no row here and do no work for it.
CREATE TABLE credit_lot (
  account_id uuid NOT NULL,
  position bigint NOT NULL,
  is_granted boolean NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  expires_at timestamptz,
  remaining bigint NOT NULL,
  is_empty boolean NOT NULL DEFAULT false,
  look_at timestamptz,
  PRIMARY KEY (account_id, position),
  CHECK (remaining BETWEEN 0 AND amount),
  CHECK (is_empty = (remaining = 0)),
  CHECK (is_granted OR expires_at IS NOT NULL)
) WITH (fillfactor = 50);
-- The order of spending. `remaining` is in no index, so that a charge rewrites the row in place.
CREATE INDEX credit_lot_to_spend ON credit_lot (account_id, is_granted DESC, expires_at, position) WHERE NOT is_empty;
CREATE INDEX credit_lot_to_expire ON credit_lot (look_at) WHERE NOT is_empty AND look_at IS NOT NULL;

COMMENT ON TABLE credit_lot IS 'What is left of each credit that was granted or that expires. account.in_lots is the sum.';
COMMENT ON COLUMN credit_lot.position IS 'The position of the credit in the ledger.';
COMMENT ON COLUMN credit_lot.is_granted IS 'Whether the credit was granted; else it was paid.';
COMMENT ON COLUMN credit_lot.amount IS 'What was credited.';
COMMENT ON COLUMN credit_lot.look_at IS 'When to look next whether something has expired; null: it never expires.';

CREATE TABLE ledger_entry_source (
  account_id uuid NOT NULL,
  position bigint NOT NULL,
  credits bigint[] NOT NULL,
  amounts bigint[] NOT NULL,
  granted bigint NOT NULL,
  PRIMARY KEY (account_id, position),
  CHECK (cardinality(credits) = cardinality(amounts))
);
COMMENT ON TABLE ledger_entry_source IS 'Which credits a charge, correction or expiry took money from, or gave it back to. An entry without a row here, other than a credit, moved only paid money that does not expire. Rows are never changed.';
COMMENT ON COLUMN ledger_entry_source.position IS 'The entry.';
COMMENT ON COLUMN ledger_entry_source.credits IS 'The positions of the credits, in the order in which they were used; null is the paid money that does not expire.';
COMMENT ON COLUMN ledger_entry_source.amounts IS 'What was taken from each or given back to each; positive.';
COMMENT ON COLUMN ledger_entry_source.granted IS 'The part of the amount of the entry that is granted money, with the sign of the amount.';
