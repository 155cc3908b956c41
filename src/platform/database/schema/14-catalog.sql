-- What models cost, and from when on. A process that has read its catalog adds what differs from the last price here.
CREATE TABLE catalog_change (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  model text NOT NULL,
  price jsonb,
  file text,
  changed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX catalog_change_of_model ON catalog_change (model, id);
COMMENT ON TABLE catalog_change IS 'Each price of each model, from when on. Rows are written once and never changed.';
COMMENT ON COLUMN catalog_change.price IS 'The price as GET /v1/models shows it; null: no longer sold.';
COMMENT ON COLUMN catalog_change.file IS 'The file that CATALOG_FILE named where the row of the model comes from it; null: a built-in row.';
