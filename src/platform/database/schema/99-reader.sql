-- The rights of a role that only reads (:role), for analysts and monitoring: by database:roles, by migrate and at each start with
-- READER_DATABASE_URL. It names what may be read: a table of a later version is not, until it is named here. Left out are secrets, hashes
-- of secrets, what callers sent and got, and addresses that may have a secret in them.
GRANT USAGE ON SCHEMA public TO :role;
GRANT SELECT ON account, api_key_use, audit_checkpoint, audit_state, call_look, catalog_change, credit_lot, dropped_record, figures_leader,
  gateway_process, hold, key_expiry_notice, key_inherited, key_spend, key_spend_carried, late_charge, late_reversal, ledger_entry,
  ledger_entry_source, limit_notice, maker_spend, migration, open_call, operator_action, price_book, price_book_revision,
  price_book_version, record_retention, route_pause, route_report, run, schema_file, schema_migration, stored_content, stored_file,
  task_work, usage_account, usage_call, usage_checkpoint, usage_checkpoint_day, usage_day, usage_given_back, usage_held, usage_hour,
  usage_hour_latency, usage_hour_refund, usage_latency, usage_month, usage_month_latency, usage_pending, usage_refund, usage_run,
  usage_run_latency, usage_run_refund, usage_state, webhook_attempt TO :role;
GRANT SELECT (id, account_id, name, prefix, allowed_models, requests_per_minute, expires_at, revoked_at, created_at, changed_at, spend_limit,
  spend_limit_period, spend_limit_since, successor_id, scopes, maker_id) ON api_key TO :role;
GRANT SELECT (account_id, id, process_id, api_key_id, created_at, held, model, endpoint, client_request_id, status, completed_at, charged,
  error_code, provider, upstream_model, provider_request_id, unit, quantity, unit_price, estimated, first_byte_ms, duration_ms, spend_period,
  refunded, capped, uncharged, output_cap_reason, output_cap, run, price_book, cost) ON execution TO :role;
GRANT SELECT (action_id, outcome, made, amount) ON operator_outcome TO :role;
GRANT SELECT (key_id, first_seen_at) ON sealing_key TO :role;
GRANT SELECT (account_id, id, created_at, expires_at, content_type, headers, bytes) ON kept_answer TO :role;
GRANT SELECT (account_id, id, lists, listed_until, bytes) ON stored_item TO :role;
GRANT SELECT (account_id, id, expires_at, output_items, bytes) ON stored_response TO :role;
GRANT SELECT (account_id, id, api_key_id, kind, modality, model, client_request_id, status, progress, provider, on_sandbox, upstream_model,
  provider_job_id, error_code, reserved, charged, evidence_status, evidence_at, created_at, completed_at, spend_period, unit, quantity,
  unit_price, refunded, delivered_late, endpoint, run, price_book) ON task TO :role;
GRANT SELECT (account_id, id, owner_id, origin, status, retry, due_at, fence, is_under_way, created_at, event) ON webhook_delivery TO :role;
GRANT SELECT (account_id, id, origin, events, created_at) ON webhook_endpoint TO :role;
