import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

const KEY = 'api_key_id, model, endpoint';
const table = (name: string, columns: string, key: string): string => `
  CREATE TABLE ${name} (
    account_id uuid NOT NULL,
    hour timestamptz NOT NULL,
    api_key_id uuid NOT NULL,
    model text NOT NULL,
    endpoint text NOT NULL,
    ${columns},
    provider text NOT NULL,
    upstream_model text NOT NULL,
    PRIMARY KEY (account_id, hour, ${key}, provider, upstream_model)
  ) WITH (fillfactor = 70);
  CREATE INDEX ${name}_by_hour ON ${name} (hour)`;

const SUMS = `
    calls bigint NOT NULL,
    failures bigint NOT NULL,
    quantity numeric NOT NULL,
    charged bigint NOT NULL,
    input_tokens bigint NOT NULL,
    cached_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    reasoning_tokens bigint NOT NULL,
    cost numeric NOT NULL,
    costed bigint NOT NULL,
    below_cost bigint NOT NULL`;

/**
 * Usage is summed up by hour too. Hours begin with this migration: those of before are not counted. The first hour that is whole
 * is the next one, because a process may be folding as the former version does.
 */
export class UsageByHour1700000001155 implements SchemaMigration {
  readonly name = 'UsageByHour1700000001155';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(table('usage_hour', SUMS, KEY));
    await runner.query(
      table(
        'usage_hour_latency',
        'bucket smallint NOT NULL, calls bigint NOT NULL',
        `${KEY}, bucket`,
      ),
    );
    await runner.query(
      table('usage_hour_refund', 'reason text NOT NULL, amount bigint NOT NULL', `${KEY}, reason`),
    );
    await runner.query(
      `ALTER TABLE usage_state ADD COLUMN hours_from timestamptz NOT NULL DEFAULT '-infinity'`,
    );
    await runner.query(`UPDATE usage_state SET hours_from = now() + interval '1 hour'`);
    // Its answer gets a column; the file of the functions makes it anew, in the same transaction.
    await runner.query('DROP FUNCTION IF EXISTS usage_recent_v2(uuid)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE usage_hour, usage_hour_latency, usage_hour_refund');
    await runner.query('ALTER TABLE usage_state DROP COLUMN hours_from');
  }
}
