import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

const STATEMENTS: readonly string[] = [
  `ALTER TABLE account ADD COLUMN low_balance bigint CHECK (low_balance > 0),
  ADD COLUMN is_low boolean NOT NULL DEFAULT false, ADD COLUMN depleted_at timestamptz`,
  `COMMENT ON COLUMN account.low_balance IS 'Below this what is available is told as the event balance.low; null: never.'`,
  `COMMENT ON COLUMN account.is_low IS 'What is available is below low_balance, and that was told. A trigger keeps it.'`,
  `COMMENT ON COLUMN account.depleted_at IS 'When the event balance.depleted was last told.'`,
  `ALTER TABLE webhook_delivery ADD COLUMN event text`,
  `CREATE INDEX webhook_delivery_of_event ON webhook_delivery (created_at) WHERE event IS NOT NULL`,
  `COMMENT ON COLUMN webhook_delivery.owner_id IS 'The task that the webhook tells of; for an event of the account the endpoint that is told.'`,
  `COMMENT ON COLUMN webhook_delivery.event IS 'The type of the event of the account that it tells; null: the webhook of a task.'`,
  `CREATE INDEX api_key_by_expiry ON api_key (expires_at) WHERE expires_at IS NOT NULL`,
  `CREATE TABLE webhook_endpoint (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  url text NOT NULL,
  origin text NOT NULL,
  sealed_secret text NOT NULL,
  events text[] NOT NULL CHECK (cardinality(events) > 0),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
)`,
  `CREATE INDEX webhook_endpoint_by_id ON webhook_endpoint (id)`,
  `COMMENT ON TABLE webhook_endpoint IS 'The endpoints of accounts, at most 10 each.'`,
  `COMMENT ON COLUMN webhook_endpoint.sealed_secret IS 'The secret that signs its deliveries, encrypted for its id.'`,
  `COMMENT ON COLUMN webhook_endpoint.events IS 'The types of the events that it is told.'`,
  `CREATE TABLE limit_notice (
  account_id uuid NOT NULL,
  owner text NOT NULL,
  since text NOT NULL,
  percent smallint NOT NULL,
  PRIMARY KEY (account_id, owner)
)`,
  `COMMENT ON TABLE limit_notice IS 'What was told of the limit of a key or run (owner) last: the percent that was reached, in which period and of which limit (since).'`,
  `CREATE TABLE key_expiry_notice (
  api_key_id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  days smallint NOT NULL,
  PRIMARY KEY (api_key_id, expires_at, days)
)`,
  `COMMENT ON TABLE key_expiry_notice IS 'Which ends of keys were told, how many days before.'`,
  // The file of the functions gives them their bodies, in the same transaction.
  `CREATE FUNCTION account_tell_low() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`,
  `CREATE FUNCTION key_tell_limit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`,
  `CREATE FUNCTION run_tell_limit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`,
  `CREATE FUNCTION task_tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`,
  `CREATE TRIGGER account_low BEFORE UPDATE ON account
  FOR EACH ROW WHEN (NEW.low_balance IS NOT NULL AND NEW.is_low <> (NEW.posted - NEW.held < NEW.low_balance))
  EXECUTE FUNCTION account_tell_low()`,
  `CREATE TRIGGER task_tells AFTER UPDATE ON task
  FOR EACH ROW WHEN (NEW.status <> OLD.status AND NEW.status IN ('succeeded', 'failed', 'expired', 'reconciliation_required'))
  EXECUTE FUNCTION task_tell()`,
  `CREATE TRIGGER key_spend_begins AFTER INSERT ON key_spend FOR EACH ROW EXECUTE FUNCTION key_tell_limit()`,
  `CREATE TRIGGER key_spend_grows AFTER UPDATE ON key_spend
  FOR EACH ROW WHEN (NEW.spent > OLD.spent) EXECUTE FUNCTION key_tell_limit()`,
  `CREATE TRIGGER maker_spend_begins AFTER INSERT ON maker_spend FOR EACH ROW EXECUTE FUNCTION key_tell_limit()`,
  `CREATE TRIGGER maker_spend_grows AFTER UPDATE ON maker_spend
  FOR EACH ROW WHEN (NEW.total_spent > OLD.total_spent) EXECUTE FUNCTION key_tell_limit()`,
  `CREATE TRIGGER run_begins AFTER INSERT ON run
  FOR EACH ROW WHEN (NEW.held::numeric * 5 >= NEW.spend_limit::numeric * 4) EXECUTE FUNCTION run_tell_limit()`,
  `CREATE TRIGGER run_grows AFTER UPDATE ON run
  FOR EACH ROW WHEN (NEW.spent + NEW.held > OLD.spent + OLD.held
                     AND (NEW.spent + NEW.held)::numeric * 5 >= NEW.spend_limit::numeric * 4)
  EXECUTE FUNCTION run_tell_limit()`,
];

/** Accounts have endpoints that are told their events. */
export class AccountEvents1700000001050 implements SchemaMigration {
  readonly name = 'AccountEvents1700000001050';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Endpoints and their events would be lost: restore a backup'));
  }
}
