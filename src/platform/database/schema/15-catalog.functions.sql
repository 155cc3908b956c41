-- Records the prices that a process sells by: those that differ from the last ones here, and the end of models that it does not
-- sell, whose file is p_file. Returns how many changes it recorded. Processes that read the same catalog together record each
-- change once: the second waits, and then finds nothing new.
CREATE OR REPLACE FUNCTION catalog_note_changes(p_models text[], p_prices jsonb[], p_files text[], p_file text)
RETURNS integer LANGUAGE plpgsql SET jit = off AS $$
DECLARE
  noted integer;
BEGIN
  -- Most starts find nothing new, and wait for nobody.
  IF NOT EXISTS (SELECT FROM catalog_differences(p_models, p_prices, p_files, p_file)) THEN
    RETURN 0;
  END IF;
  PERFORM pg_advisory_xact_lock(7446002);
  INSERT INTO catalog_change (model, price, file)
    SELECT model, price, file FROM catalog_differences(p_models, p_prices, p_files, p_file) ORDER BY model;
  GET DIAGNOSTICS noted = ROW_COUNT;
  RETURN noted;
END $$;

-- What catalog_note_changes has to record now.
CREATE OR REPLACE FUNCTION catalog_differences(p_models text[], p_prices jsonb[], p_files text[], p_file text)
RETURNS TABLE (model text, price jsonb, file text) LANGUAGE sql AS $$
  WITH known AS (
    SELECT DISTINCT ON (c.model) c.model, c.price FROM catalog_change c ORDER BY c.model, c.id DESC)
  SELECT t.model, t.price, t.file
    FROM unnest(p_models, p_prices, p_files) t (model, price, file) LEFT JOIN known USING (model)
   WHERE known.price IS DISTINCT FROM t.price
  UNION ALL
  SELECT known.model, NULL, p_file FROM known WHERE known.price IS NOT NULL AND known.model <> ALL (p_models);
$$;
