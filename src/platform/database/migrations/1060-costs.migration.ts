import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/**
 * Calls and tasks have a cost at their providers, and usage sums it up, also by provider and upstream model. Records and sums of
 * before have no cost, and the sums no provider. Processes of version 0.1.0 write no cost.
 */
export class Costs1700000001060 implements SchemaMigration {
  readonly name = 'Costs1700000001060';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Costs are only here: restore a backup'));
  }
}

const SUMS =
  'ADD COLUMN cost numeric NOT NULL DEFAULT 0, ADD COLUMN costed bigint NOT NULL DEFAULT 0, ADD COLUMN below_cost bigint NOT NULL DEFAULT 0';
const ROUTE = `ADD COLUMN provider text NOT NULL DEFAULT '', ADD COLUMN upstream_model text NOT NULL DEFAULT ''`;

/** Not validated: the column is new and empty, and the records are many. */
const bounded = (table: string, column: string): string =>
  `ADD COLUMN ${column} bigint, ADD CONSTRAINT ${table}_${column}_check CHECK (${column} BETWEEN 0 AND 1000000000000000) NOT VALID`;
const ended = (table: string, condition: string): string =>
  `ADD CONSTRAINT ${table}_cost_is_of_an_end CHECK (cost IS NULL OR ${condition}) NOT VALID`;
const keyed = (table: string, columns: string, added: string): string =>
  `ALTER TABLE ${table} ${added}, DROP CONSTRAINT ${table}_pkey, ADD PRIMARY KEY (account_id, day, ${columns}, provider, upstream_model)`;
const finalCost = (table: string): string => `
  CREATE TRIGGER ${table}_cost_is_final BEFORE UPDATE OF cost ON ${table}
  FOR EACH ROW WHEN (OLD.cost IS NOT NULL AND NEW.cost IS DISTINCT FROM OLD.cost) EXECUTE FUNCTION cost_refuse_change()`;

const OF_CALL = 'api_key_id, model, endpoint';
const OF_RUN = `run, ${OF_CALL}`;

const STATEMENTS: readonly string[] = [
  // Their answers get columns; the files of the functions make them anew, in the same transaction.
  'DROP FUNCTION IF EXISTS usage_recent_v2(uuid)',
  'DROP FUNCTION IF EXISTS usage_refunds(uuid, date, date)',
  'DROP FUNCTION IF EXISTS usage_run_refunds(uuid, date, date)',
  `ALTER TABLE execution ${bounded('execution', 'cost')}, ${ended('execution', 'completed_at IS NOT NULL')}`,
  `ALTER TABLE task ${bounded('task', 'route_cost')}, ${bounded('task', 'cost')},
   ${ended('task', "status IN ('succeeded', 'failed', 'expired')")}`,
  `CREATE FUNCTION cost_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`,
  finalCost('execution'),
  finalCost('task'),
  `ALTER TABLE late_charge ADD COLUMN cost bigint, DROP CONSTRAINT late_charge_charged_check,
   ADD CONSTRAINT late_charge_charged_check CHECK (charged >= 0)`,
  'ALTER TABLE dropped_record ADD COLUMN cost numeric NOT NULL DEFAULT 0',
  'ALTER TABLE usage_account ADD COLUMN cost numeric NOT NULL DEFAULT 0',
  `ALTER TABLE usage_month ${SUMS}`,
  keyed('usage_day', OF_CALL, `${SUMS}, ${ROUTE}`),
  keyed('usage_run', OF_RUN, `${SUMS}, ${ROUTE}`),
  keyed('usage_latency', `${OF_CALL}, bucket`, ROUTE),
  keyed('usage_run_latency', `${OF_RUN}, bucket`, ROUTE),
  keyed('usage_refund', `${OF_CALL}, reason`, ROUTE),
  keyed('usage_run_refund', `${OF_RUN}, reason`, ROUTE),
];
