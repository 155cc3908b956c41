-- A price book and its versions. A version is written once and never changed: what was priced by it stays explained.
CREATE TABLE price_book (
  id text PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE price_book IS 'Prices of some accounts: those that name it in account.price_book.';

CREATE TABLE price_book_version (
  book_id text NOT NULL,
  version integer NOT NULL,
  factor_permille integer NOT NULL CHECK (factor_permille BETWEEN 1 AND 10000),
  models jsonb NOT NULL,
  valid_from timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (book_id, version)
);
COMMENT ON TABLE price_book_version IS 'What a price book says from a time on: of the versions that have begun, the one that began last. Kept when the book is deleted, because calls and tasks name it.';
COMMENT ON COLUMN price_book_version.factor_permille IS 'The part of an amount that is paid, in thousandths, for models that are not in models (decision G-30).';
COMMENT ON COLUMN price_book_version.models IS 'Prices of its own, a list of {id, price} as in the file of the catalog.';

-- One row. Each change of a book counts it up in its own transaction, so that processes learn of changes by one small read.
CREATE TABLE price_book_revision (
  revision bigint NOT NULL
);
INSERT INTO price_book_revision VALUES (0);
COMMENT ON TABLE price_book_revision IS 'Counts the changes of all price books.';
