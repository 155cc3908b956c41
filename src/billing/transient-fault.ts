import { databaseFaultOf, sqlStateOf } from '../database/database-errors.js';

/** Resources exhausted, operator intervention, system error; a server that has just become read-only. */
const SERVER_TROUBLE = /^(53|57|58)|^25006$/;
/** The driver's words for an answer that did not come. */
const NO_ANSWER = 'Query read timeout';

/**
 * Whether a ledger statement that failed with this error may be tried again: contention, lost connections and server trouble
 * may pass; a refused constraint or a fault of ours does not, and has rolled back.
 */
export function isTransient(error: unknown): boolean {
  switch (databaseFaultOf(error)) {
    case 'unavailable':
    case 'lost':
    case 'aborted':
      return true;
    case 'unique':
    case 'foreign-key':
    case 'check':
      return false;
    case 'other':
      return (
        error instanceof Error &&
        (error.message === NO_ANSWER || SERVER_TROUBLE.test(sqlStateOf(error) ?? ''))
      );
  }
}
