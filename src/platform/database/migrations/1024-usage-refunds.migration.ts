import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/**
 * Usage keeps sums of what was given back and of what was held at the end of a month. What was given back until now is read from
 * the entries. What was held at the end of earlier months is not known.
 */
export class UsageRefunds1700000001024 implements SchemaMigration {
  readonly name = 'UsageRefunds1700000001024';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
    await runner.query(FILL);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Folded refunds are only here: restore a backup'));
  }
}

const TABLES = `
  CREATE TABLE usage_refund (
    account_id uuid NOT NULL,
    day date NOT NULL,
    api_key_id uuid NOT NULL,
    model text NOT NULL,
    endpoint text NOT NULL,
    reason text NOT NULL,
    amount bigint NOT NULL,
    PRIMARY KEY (account_id, day, api_key_id, model, endpoint, reason)
  ) WITH (fillfactor = 70);
  CREATE INDEX usage_refund_by_day ON usage_refund (day);
  CREATE TABLE usage_held (
    account_id uuid NOT NULL,
    month date NOT NULL,
    held bigint NOT NULL,
    PRIMARY KEY (account_id, month)
  ) WITH (fillfactor = 50);
  ALTER TABLE usage_state ADD COLUMN held_from timestamptz NOT NULL DEFAULT '-infinity'`;

/** Nobody folds meanwhile: the table of the state is locked. */
const FILL = `
  UPDATE usage_state SET held_from = folded_until;
  INSERT INTO usage_refund (account_id, day, api_key_id, model, endpoint, reason, amount)
    SELECT account_id, (created_at AT TIME ZONE 'UTC')::date, api_key_id, model, endpoint, '', -sum(charged)
      FROM usage_given_back
     WHERE charged < 0 AND created_at <= (SELECT folded_until FROM usage_state)
     GROUP BY 1, 2, 3, 4, 5`;
