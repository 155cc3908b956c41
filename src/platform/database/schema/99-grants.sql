-- The rights that the role of a running gateway needs (:role), given at each start with two roles, by migrate and by database:roles.
-- The owner has more: to change tables and triggers, to change the entries, and to delete holds.
GRANT USAGE ON SCHEMA public TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO :role;
REVOKE INSERT, UPDATE, DELETE ON migration, schema_file, schema_migration FROM :role;
REVOKE UPDATE, DELETE ON ledger_entry, ledger_entry_source, operator_action, operator_outcome, catalog_change FROM :role;
REVOKE INSERT, UPDATE, DELETE ON dropped_record, record_retention, late_reversal, late_charge, account_move, cell_identity FROM :role;
REVOKE DELETE ON account, hold, execution, credit_lot FROM :role;
-- No process deletes these: keys and tasks, what they spent, the sums of usage, and how far the books are proven.
REVOKE DELETE ON api_key, api_key_use, task, key_spend, maker_spend, usage_account, usage_day, usage_latency, usage_month,
  usage_month_latency, usage_refund, usage_run, usage_run_latency, usage_run_refund, usage_state, usage_checkpoint, audit_checkpoint,
  audit_state FROM :role;
-- A function that runs as its owner could change the books for whoever may log in. Functions of extensions belong to others.
DO $$ DECLARE f regprocedure; BEGIN
  FOR f IN SELECT oid FROM pg_proc
            WHERE prosecdef AND pronamespace = 'public'::regnamespace AND pg_has_role(proowner, 'MEMBER') LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', f, $role$:role$role$);
  END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION record_note_dropped, record_note_dropped_costs FROM :role;
