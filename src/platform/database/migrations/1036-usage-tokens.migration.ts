import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/**
 * The sums of usage count tokens by kind. Those of calls whose record is still there are added; days of dropped records keep zero.
 */
export class UsageTokens1700000001036 implements SchemaMigration {
  readonly name = 'UsageTokens1700000001036';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(SUM_OF_FOLDED);
    await runner.query(COLUMNS);
    await runner.query(FILL_DAYS);
    await runner.query(FILL_MONTHS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Tokens of dropped records are only here: restore a backup'));
  }
}

/** Nobody folds meanwhile: the row of the state is locked. The calls are read before the tables of usage are locked. */
const SUM_OF_FOLDED = `
  CREATE TEMPORARY TABLE tokens_of_folded ON COMMIT DROP AS
  WITH state AS MATERIALIZED (SELECT folded_until FROM usage_state FOR UPDATE)
  SELECT e.account_id, (e.completed_at AT TIME ZONE 'UTC')::date AS day,
         coalesce(e.api_key_id, '00000000-0000-0000-0000-000000000000'::uuid) AS api_key_id, e.model, e.endpoint,
         sum((e.quantity->>'promptTokens')::bigint)::bigint AS input,
         sum(coalesce((e.quantity->>'cachedTokens')::bigint, 0))::bigint AS cached,
         sum((e.quantity->>'completionTokens')::bigint)::bigint AS output,
         sum(coalesce((e.quantity->>'reasoningTokens')::bigint, 0))::bigint AS reasoning
    FROM execution e
   WHERE e.status = 'succeeded' AND e.unit = 'token' AND e.created_at <= (SELECT folded_until FROM state)
     AND NOT EXISTS (SELECT FROM usage_pending p WHERE p.account_id = e.account_id AND p.id = e.id)
   GROUP BY 1, 2, 3, 4, 5`;

const TOKENS = `
  ADD COLUMN input_tokens bigint NOT NULL DEFAULT 0, ADD COLUMN cached_tokens bigint NOT NULL DEFAULT 0,
  ADD COLUMN output_tokens bigint NOT NULL DEFAULT 0, ADD COLUMN reasoning_tokens bigint NOT NULL DEFAULT 0`;
const COLUMNS = `ALTER TABLE usage_day ${TOKENS}; ALTER TABLE usage_month ${TOKENS}`;

const SUMS = `sum(input)::bigint AS input, sum(cached)::bigint AS cached, sum(output)::bigint AS output,
         sum(reasoning)::bigint AS reasoning`;
const NEW_VALUES =
  'input_tokens = t.input, cached_tokens = t.cached, output_tokens = t.output, reasoning_tokens = t.reasoning';

/** The rows of all accounts have the zero id as account and key. */
const FILL_DAYS = `
  UPDATE usage_day d SET ${NEW_VALUES}
    FROM (SELECT * FROM tokens_of_folded
          UNION ALL
          SELECT '00000000-0000-0000-0000-000000000000', day, '00000000-0000-0000-0000-000000000000', model, endpoint, ${SUMS}
            FROM tokens_of_folded GROUP BY day, model, endpoint) t
   WHERE (d.account_id, d.day, d.api_key_id, d.model, d.endpoint) = (t.account_id, t.day, t.api_key_id, t.model, t.endpoint)`;

const FILL_MONTHS = `
  UPDATE usage_month m SET ${NEW_VALUES}
    FROM (SELECT account_id, date_trunc('month', day::timestamp)::date AS month, api_key_id, ${SUMS}
            FROM tokens_of_folded GROUP BY 1, 2, 3) t
   WHERE (m.account_id, m.month, m.api_key_id) = (t.account_id, t.month, t.api_key_id)`;
