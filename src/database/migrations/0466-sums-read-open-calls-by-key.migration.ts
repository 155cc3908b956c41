import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The sum of usage looks up its few open calls by key. Where statistics made the planner join them the other way round, it read all
 * calls ever made, every five seconds. OFFSET 0 keeps the order.
 */
export class SumsReadOpenCallsByKey1700000000466 implements MigrationInterface {
  readonly name = 'SumsReadOpenCallsByKey1700000000466';

  async up(runner: QueryRunner): Promise<void> {
    await replace(runner, 'u.id = p.id) c', 'u.id = p.id OFFSET 0) c');
  }

  async down(runner: QueryRunner): Promise<void> {
    await replace(runner, 'u.id = p.id OFFSET 0) c', 'u.id = p.id) c');
  }
}

/** As in 0255 but for that. */
const replace = (runner: QueryRunner, from: string, to: string): Promise<unknown> =>
  runner.query(`
    DO $do$ BEGIN
      EXECUTE replace(pg_get_functiondef('usage_fold'::regproc), '${from}', '${to}');
      ASSERT position('${to}' IN pg_get_functiondef('usage_fold'::regproc)) > 0;
    END $do$`);
