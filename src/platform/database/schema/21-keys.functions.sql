-- Notes when a key was changed, by the clock of the database.
CREATE OR REPLACE FUNCTION api_key_note_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.changed_at := clock_timestamp();
  RETURN NEW;
END $$;
