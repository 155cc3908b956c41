-- The rights that the role of a running gateway needs (:role), given at each start with two roles. The owner has more: to change
-- tables and triggers, to change the entries, and to delete holds.
GRANT USAGE ON SCHEMA public TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO :role;
REVOKE INSERT, UPDATE, DELETE ON migration, schema_file, schema_migration FROM :role;
REVOKE UPDATE, DELETE ON ledger_entry, ledger_entry_source, operator_action, operator_outcome, catalog_change FROM :role;
REVOKE INSERT, UPDATE, DELETE ON dropped_record, record_retention, late_reversal, late_charge FROM :role;
REVOKE DELETE ON account, hold, execution, credit_lot FROM :role;
