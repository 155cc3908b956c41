import type { DataSource } from 'typeorm';

/** Moves every moment that a row names into the past, as its owner could: so many days have passed. */
export async function ageRows(dataSource: DataSource, days: number): Promise<void> {
  await dataSource.query(`
    DO $do$ DECLARE field record; BEGIN
      SET LOCAL session_replication_role = 'replica';
      FOR field IN SELECT table_name AS t, column_name AS c FROM information_schema.columns
                    JOIN information_schema.tables USING (table_schema, table_name)
                   WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND data_type = 'timestamp with time zone'
      LOOP
        -- A part of a key: first far away from all rows that have not moved yet.
        IF field.c = 'hour' THEN
          EXECUTE format('UPDATE %I SET hour = hour - interval ''1000 years''', field.t);
          EXECUTE format('UPDATE %I SET hour = hour + interval ''1000 years'' - interval ''${days} days''', field.t);
          CONTINUE;
        END IF;
        EXECUTE format('UPDATE %I SET %I = %I - interval ''${days} days''', field.t, field.c, field.c);
      END LOOP;
    END $do$`);
}
