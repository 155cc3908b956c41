import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/**
 * Credits that are granted or that expire. The credits of before are paid and never expire, so no row changes; the constraints of the
 * ledger are not checked against its entries, which satisfy narrower ones.
 */
export class CreditLots1700000001034 implements SchemaMigration {
  readonly name = 'CreditLots1700000001034';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [ACCOUNT, ENTRY, LOT, SOURCE, ...FOLLOW]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Balances consist of lots now: restore a backup'));
  }
}

const ACCOUNT = `
  ALTER TABLE account ADD COLUMN in_lots bigint, ADD COLUMN lots_until bigint,
    ADD CONSTRAINT account_in_lots CHECK (in_lots BETWEEN 0 AND posted)`;

const ENTRY = `
  ALTER TABLE ledger_entry
    ADD COLUMN credit_kind text, ADD COLUMN expires_at timestamptz, ADD COLUMN payment_reference text, ADD COLUMN currency text,
    ADD COLUMN tax bigint, ADD COLUMN credit_position bigint,
    DROP CONSTRAINT ledger_entry_kind_check,
    ADD CONSTRAINT ledger_entry_kind_check CHECK (kind IN ('credit', 'correction', 'charge', 'expiry')) NOT VALID,
    ADD CONSTRAINT ledger_entry_terms CHECK (
      CASE kind WHEN 'credit' THEN credit_kind IN ('paid', 'granted') AND tax >= 0
                ELSE num_nonnulls(credit_kind, expires_at, payment_reference, currency, tax) = 0 END) NOT VALID,
    ADD CONSTRAINT ledger_entry_expiry CHECK (
      CASE kind WHEN 'expiry' THEN amount < 0 AND hold_id IS NULL AND credit_position < position
                ELSE credit_position IS NULL END) NOT VALID`;

const LOT = `
  CREATE TABLE credit_lot (
    account_id uuid NOT NULL,
    position bigint NOT NULL,
    is_granted boolean NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    expires_at timestamptz,
    remaining bigint NOT NULL,
    is_empty boolean NOT NULL DEFAULT false,
    look_at timestamptz,
    PRIMARY KEY (account_id, position),
    CHECK (remaining BETWEEN 0 AND amount),
    CHECK (is_empty = (remaining = 0)),
    CHECK (is_granted OR expires_at IS NOT NULL)
  ) WITH (fillfactor = 50);
  CREATE INDEX credit_lot_to_spend ON credit_lot (account_id, is_granted DESC, expires_at, position) WHERE NOT is_empty;
  CREATE INDEX credit_lot_to_expire ON credit_lot (look_at) WHERE NOT is_empty AND look_at IS NOT NULL`;

const SOURCE = `
  CREATE TABLE ledger_entry_source (
    account_id uuid NOT NULL,
    position bigint NOT NULL,
    credits bigint[] NOT NULL,
    amounts bigint[] NOT NULL,
    granted bigint NOT NULL,
    PRIMARY KEY (account_id, position),
    CHECK (cardinality(credits) = cardinality(amounts))
  );
  CREATE TRIGGER ledger_entry_source_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entry_source
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_entry_refuse_change()`;

/** The body of the function is applied after the migrations, in the same transaction. */
const FOLLOW = [
  `CREATE OR REPLACE FUNCTION account_follow_lots() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
  `CREATE TRIGGER account_follows_lots BEFORE UPDATE OF posted ON account
    FOR EACH ROW WHEN (NEW.posted <> OLD.posted AND (OLD.in_lots > 0 OR (NEW.in_lots = 0 AND NEW.posted > OLD.posted)))
    EXECUTE FUNCTION account_follow_lots()`,
] as const;
