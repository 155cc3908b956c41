import type { DataSource, EntityManager } from 'typeorm';
import { sqlStateOf } from './database-errors.js';

const TRIES = 3;
/** Serialization failure and deadlock. The server has rolled back, and a new attempt may succeed at once. */
const TRY_AGAIN = new Set(['40001', '40P01']);

/**
 * Runs `work` in one transaction and commits it; any error rolls back and is thrown. After a deadlock or serialization
 * failure `work` runs again, at most three times in all. So it must await nothing but the database, and change nothing
 * outside it.
 */
export async function transaction<T>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<T>,
  isolation: 'READ COMMITTED' | 'REPEATABLE READ' = 'READ COMMITTED',
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await dataSource.transaction(isolation, work);
    } catch (error) {
      if (attempt === TRIES || !TRY_AGAIN.has(sqlStateOf(error) ?? '')) throw error;
    }
  }
}
