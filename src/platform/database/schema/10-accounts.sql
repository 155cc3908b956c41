-- The row has much free space beside it and no index on its counters, so that PostgreSQL rewrites it in place even while an old
-- snapshot, as of a dump or an audit, keeps its former versions.
CREATE TABLE account (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  posted bigint NOT NULL DEFAULT 0,
  held bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  play_money boolean NOT NULL DEFAULT false,
  disabled boolean NOT NULL DEFAULT false,
  price_book text,
  in_lots bigint,
  lots_until bigint,
  low_balance bigint,
  is_low boolean NOT NULL DEFAULT false,
  depleted_at timestamptz,
  keep_answers boolean NOT NULL DEFAULT false,
  leaving bigint,
  CONSTRAINT account_is_sound CHECK (held >= 0 AND in_lots >= 0 AND low_balance > 0 AND posted >= greatest(held, in_lots)),
  CONSTRAINT account_that_leaves_rests CHECK (leaving IS NULL OR (disabled AND held = 0 AND posted = leaving))
) WITH (fillfactor = 15);
CREATE INDEX account_by_name ON account (lower(name) text_pattern_ops, id);

COMMENT ON TABLE account IS 'Who pays. Every function that moves money locks the row of its account first, so the statements of one account run one after the other.';
COMMENT ON COLUMN account.posted IS 'The balance: the sum of the amounts of all ledger entries of the account.';
COMMENT ON COLUMN account.held IS 'The part of the balance that running calls and open holds reserve. What may be spent is posted - held.';
COMMENT ON COLUMN account.in_lots IS 'The part of the balance that is left of credits that were granted or that expire: the sum of credit_lot.remaining. The rest of the balance is paid money that does not expire. Null: the account never had such a credit.';
COMMENT ON COLUMN account.lots_until IS 'The position of the last entry that the lots have followed, while there is money in lots.';
COMMENT ON COLUMN account.play_money IS 'Its money buys the work of the sandbox only (decisions G-95, G-110).';
COMMENT ON COLUMN account.price_book IS 'The price book by which its calls and tasks are priced; null: the list.';
COMMENT ON COLUMN account.disabled IS 'An operator has closed the account: its keys are refused.';
COMMENT ON COLUMN account.keep_answers IS 'The answers of all its synchronous calls are kept for a day.';
COMMENT ON COLUMN account.low_balance IS 'Below this what is available is told as the event balance.low; null: never.';
COMMENT ON COLUMN account.is_low IS 'What is available is below low_balance, and that was told. A trigger keeps it.';
COMMENT ON COLUMN account.depleted_at IS 'When the event balance.depleted was last told.';
COMMENT ON COLUMN account.leaving IS 'The account moves to another cell, or has moved (account_move): its balance since then. Until this is null again it stays closed, and no function can hold or move its money.';

CREATE TABLE cell_identity (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  id uuid NOT NULL DEFAULT gen_random_uuid()
);
COMMENT ON TABLE cell_identity IS 'Which database this is when accounts move between cells: one row, made when it is first asked for, so that databases made from one copy differ. A backup has it.';

CREATE TABLE account_move (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL,
  direction text NOT NULL CHECK (direction IN ('out', 'in')),
  cell text NOT NULL,
  receipt_key text NOT NULL,
  actor text NOT NULL,
  begun_at timestamptz NOT NULL DEFAULT now(),
  outcome text CHECK (outcome IN ('imported', 'refused')),
  ended_at timestamptz,
  CHECK ((outcome IS NULL) = (ended_at IS NULL)),
  CHECK (direction = 'out' OR outcome IS NOT NULL)
);
CREATE INDEX account_move_of_account ON account_move (account_id, begun_at);
CREATE UNIQUE INDEX account_move_one_at_a_time ON account_move (account_id) WHERE outcome IS NULL;
COMMENT ON TABLE account_move IS 'Moves of accounts to other cells (out) and from them (in), docs/architecture/adr/0019. The cell that imports decides, once for each move: the row of the move there.';
COMMENT ON COLUMN account_move.cell IS 'The id of the cell that the account moves to: its name, that of its database (cell_identity), and check digits.';
COMMENT ON COLUMN account_move.receipt_key IS 'Random. The receipt of each outcome is made of it, so that the cell that exports believes only what the other one decided.';
COMMENT ON COLUMN account_move.outcome IS 'What the cell that imports decided; null: this cell does not know it yet.';
