import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

const TABLES = `
CREATE TABLE usage_run (
  account_id uuid NOT NULL,
  day date NOT NULL,
  run text NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  calls bigint NOT NULL,
  failures bigint NOT NULL,
  quantity numeric NOT NULL,
  charged bigint NOT NULL,
  input_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  PRIMARY KEY (account_id, day, run, api_key_id, model, endpoint)
) WITH (fillfactor = 70);
CREATE INDEX usage_run_by_day ON usage_run (day);

CREATE TABLE usage_run_latency (
  account_id uuid NOT NULL,
  day date NOT NULL,
  run text NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  bucket smallint NOT NULL,
  calls bigint NOT NULL,
  PRIMARY KEY (account_id, day, run, api_key_id, model, endpoint, bucket)
) WITH (fillfactor = 70);
CREATE INDEX usage_run_latency_by_day ON usage_run_latency (day);

CREATE TABLE usage_run_refund (
  account_id uuid NOT NULL,
  day date NOT NULL,
  run text NOT NULL,
  api_key_id uuid NOT NULL,
  model text NOT NULL,
  endpoint text NOT NULL,
  reason text NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (account_id, day, run, api_key_id, model, endpoint, reason)
) WITH (fillfactor = 70);
CREATE INDEX usage_run_refund_by_day ON usage_run_refund (day);
`;

/** Usage is summed by run too. */
export class UsageOfRuns1700000001041 implements SchemaMigration {
  readonly name = 'UsageOfRuns1700000001041';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE usage_run, usage_run_latency, usage_run_refund');
  }
}
