import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The sum of usage looks up its few open calls by key. Where statistics made the planner join them the other way round, it read all
 * calls ever made, every five seconds. OFFSET 0 keeps the order.
 */
export class SumsReadOpenCallsByKey1700000000466 implements MigrationInterface {
  readonly name = 'SumsReadOpenCallsByKey1700000000466';

  async up(runner: QueryRunner): Promise<void> {
    for (const name of FUNCTIONS) await replace(runner, name, PLAIN, FENCED);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of FUNCTIONS) await replace(runner, name, FENCED, PLAIN);
  }
}

const FUNCTIONS = ['usage_fold', 'usage_recent'];
const PLAIN = 'u.id = p.id) c';
const FENCED = 'u.id = p.id OFFSET 0) c';

/** As in 0255 and 0163 but for that. */
const replace = (runner: QueryRunner, name: string, from: string, to: string): Promise<unknown> =>
  runner.query(`
    DO $do$ BEGIN
      EXECUTE replace(pg_get_functiondef('${name}'::regproc), '${from}', '${to}');
      ASSERT position('${to}' IN pg_get_functiondef('${name}'::regproc)) > 0;
    END $do$`);
