-- What happens by itself when a row is written. The functions are in the files of their areas.
--
-- PostgreSQL reads the condition of each trigger anew in every statement that writes its table, so those of the tables that each
-- call writes are short, and their functions look closer. No trigger runs before an update of execution: the server would lock each
-- row for it, and write that to the log.
CREATE TRIGGER api_key_changed BEFORE UPDATE ON api_key
  FOR EACH ROW EXECUTE FUNCTION api_key_note_change();

CREATE TRIGGER ledger_entry_append_only BEFORE UPDATE OR TRUNCATE ON ledger_entry
  FOR EACH STATEMENT EXECUTE FUNCTION ledger_entry_refuse_change();
CREATE TRIGGER ledger_entry_kept BEFORE DELETE ON ledger_entry
  FOR EACH ROW EXECUTE FUNCTION ledger_entry_refuse_deletion();
CREATE TRIGGER ledger_entry_within_charge BEFORE INSERT ON ledger_entry
  FOR EACH ROW WHEN (NEW.kind = 'correction' AND NEW.hold_id IS NOT NULL) EXECUTE FUNCTION ledger_entry_refuse_excess();
CREATE TRIGGER hold_resolved_is_final BEFORE UPDATE ON hold
  FOR EACH ROW WHEN (OLD.state <> 'open') EXECUTE FUNCTION hold_refuse_change();

CREATE TRIGGER execution_cost_is_final AFTER UPDATE OF cost ON execution
  FOR EACH ROW WHEN (OLD.cost IS NOT NULL) EXECUTE FUNCTION cost_refuse_change();
CREATE TRIGGER task_cost_is_final AFTER UPDATE OF cost ON task
  FOR EACH ROW WHEN (OLD.cost IS NOT NULL) EXECUTE FUNCTION cost_refuse_change();

CREATE TRIGGER execution_spends AFTER UPDATE ON execution
  FOR EACH ROW WHEN (NEW.spend_period IS NOT NULL OR OLD.charged IS NOT NULL) EXECUTE FUNCTION execution_note_spend();
CREATE TRIGGER task_spends AFTER UPDATE ON task
  FOR EACH ROW WHEN (NEW.spend_period IS NOT NULL OR OLD.status IN ('succeeded', 'failed', 'expired'))
  EXECUTE FUNCTION task_note_spend();

CREATE TRIGGER execution_spends_for_maker AFTER UPDATE ON execution
  FOR EACH ROW WHEN (NEW.maker_counted_at IS NOT NULL) EXECUTE FUNCTION execution_note_for_maker();
CREATE TRIGGER task_spends_for_maker AFTER UPDATE ON task
  FOR EACH ROW WHEN (NEW.maker_counted_at IS NOT NULL) EXECUTE FUNCTION task_note_for_maker();

CREATE TRIGGER task_counts_in_run AFTER UPDATE ON task
  FOR EACH ROW WHEN (OLD.run IS NOT NULL) EXECUTE FUNCTION task_note_run();

CREATE TRIGGER task_unexplained BEFORE UPDATE OF charged ON task
  FOR EACH ROW WHEN (NEW.charged <> NEW.reserved) EXECUTE FUNCTION task_unexplain();
CREATE TRIGGER account_follows_lots BEFORE UPDATE OF posted ON account
  FOR EACH ROW WHEN (NEW.in_lots IS NOT NULL AND NEW.posted <> OLD.posted)
  EXECUTE FUNCTION account_follow_lots();
CREATE TRIGGER ledger_entry_source_append_only BEFORE UPDATE OR TRUNCATE ON ledger_entry_source
  FOR EACH STATEMENT EXECUTE FUNCTION ledger_entry_refuse_change();
CREATE TRIGGER ledger_entry_source_kept BEFORE DELETE ON ledger_entry_source
  FOR EACH ROW EXECUTE FUNCTION ledger_entry_refuse_deletion();

CREATE TRIGGER account_low BEFORE UPDATE ON account
  FOR EACH ROW WHEN (NEW.low_balance IS NOT NULL)
  EXECUTE FUNCTION account_tell_low();
CREATE TRIGGER task_tells AFTER UPDATE ON task
  FOR EACH ROW WHEN (NEW.status <> OLD.status AND NEW.status IN ('succeeded', 'failed', 'expired', 'reconciliation_required'))
  EXECUTE FUNCTION task_tell();
CREATE TRIGGER key_spend_begins AFTER INSERT ON key_spend FOR EACH ROW EXECUTE FUNCTION key_tell_limit();
CREATE TRIGGER key_spend_grows AFTER UPDATE ON key_spend
  FOR EACH ROW WHEN (NEW.spent > OLD.spent) EXECUTE FUNCTION key_tell_limit();
CREATE TRIGGER maker_spend_begins AFTER INSERT ON maker_spend FOR EACH ROW EXECUTE FUNCTION key_tell_limit();
CREATE TRIGGER maker_spend_grows AFTER UPDATE ON maker_spend
  FOR EACH ROW WHEN (NEW.total_spent > OLD.total_spent) EXECUTE FUNCTION key_tell_limit();
