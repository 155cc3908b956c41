import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A statement that ends many tasks took the locks of each in turn, and came to the second task with the account of the first.
 * Two statements with the same tasks in opposite orders then deadlocked. Now all locks are taken before, in the one order.
 */
export class EndsLockInOrder1700000000300 implements MigrationInterface {
  readonly name = 'EndsLockInOrder1700000000300';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(LOCK);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION task_end_lock');
  }
}

/** Locks work, then tasks, then accounts, each in the order of their ids, as whatever ends one task does. */
const LOCK = `
  CREATE FUNCTION task_end_lock(p_accounts uuid[], p_ids uuid[]) RETURNS boolean LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  BEGIN
    PERFORM FROM unnest(p_accounts, p_ids) t (account, id)
      JOIN task_work w ON w.account_id = t.account AND w.task_id = t.id
     ORDER BY w.account_id, w.task_id FOR UPDATE OF w;
    PERFORM FROM unnest(p_accounts, p_ids) t (account, id)
      JOIN task k ON k.account_id = t.account AND k.id = t.id
     ORDER BY k.account_id, k.id FOR NO KEY UPDATE OF k;
    PERFORM FROM account WHERE id = ANY (p_accounts) ORDER BY id FOR NO KEY UPDATE;
    RETURN true;
  END $$;`;
