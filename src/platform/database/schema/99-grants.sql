-- The rights that the role of a running gateway needs (:role), given at each start with two roles, by migrate and by database:roles.
-- The owner has more: to change tables and triggers, to change the entries, and to delete holds.
GRANT USAGE ON SCHEMA public TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO :role;
REVOKE INSERT, UPDATE, DELETE ON migration, schema_file, schema_migration FROM :role;
REVOKE UPDATE, DELETE ON ledger_entry, ledger_entry_source, operator_action, operator_outcome, catalog_change FROM :role;
REVOKE INSERT, UPDATE, DELETE ON dropped_record, record_retention, late_reversal, late_charge FROM :role;
REVOKE DELETE ON account, hold, execution, credit_lot FROM :role;
-- No process deletes these: keys and tasks, what they spent, the sums of usage, and how far the books are proven.
REVOKE DELETE ON api_key, api_key_use, task, key_spend, maker_spend, usage_account, usage_day, usage_latency, usage_month,
  usage_month_latency, usage_refund, usage_run, usage_run_latency, usage_run_refund, usage_state, usage_checkpoint, audit_checkpoint,
  audit_state FROM :role;
-- Those that run as the owner are not for everybody where there is a role that only reads.
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO :role;
REVOKE EXECUTE ON FUNCTION record_note_dropped, record_note_dropped_costs FROM :role;
