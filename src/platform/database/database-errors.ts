import { types } from 'node:util';

/**
 * What a failed statement means for its caller:
 * - `unavailable`: no connection, nothing was sent;
 * - `lost`: the connection broke, and whether a commit under way took effect is unknown;
 * - `aborted`: the server rolled back because of others (deadlock, lock or statement timeout); trying again may succeed;
 * - `unique`, `foreign-key`, `check`: a constraint refused it;
 * - `other`: a fault of ours.
 */
export type DatabaseFault =
  'unavailable' | 'lost' | 'aborted' | 'unique' | 'foreign-key' | 'check' | 'other';

const FAULT_OF_CODE: Readonly<Record<string, DatabaseFault>> = {
  // Node's codes
  ECONNREFUSED: 'unavailable',
  ENOENT: 'unavailable',
  ENOTFOUND: 'unavailable',
  EAI_AGAIN: 'unavailable',
  EAGAIN: 'unavailable', // the queue of a Unix socket is full, as that of a stopped server
  EHOSTUNREACH: 'unavailable',
  ENETUNREACH: 'unavailable',
  ECONNRESET: 'lost',
  EPIPE: 'lost',
  ETIMEDOUT: 'lost',
  // SQLSTATE
  '53300': 'unavailable', // too_many_connections
  '57P03': 'unavailable', // cannot_connect_now
  '55000': 'unavailable', // the database takes no connections
  '57P01': 'lost', // admin_shutdown
  '57P02': 'lost', // crash_shutdown
  '25P03': 'lost', // idle_in_transaction_session_timeout
  '25006': 'unavailable', // read_only_sql_transaction: a server that has just become a standby
  '40001': 'aborted', // serialization_failure
  '40P01': 'aborted', // deadlock_detected
  '55P03': 'aborted', // lock_not_available
  '57014': 'aborted', // query_canceled: statement_timeout
  '23505': 'unique',
  '23503': 'foreign-key',
  '23514': 'check',
};
/** Connection exception, insufficient resources, operator intervention, system error. */
const LOST_CLASS = /^(08|53|57|58)/;
/** An internal error, which a server also reports for a file that it cannot write, and for a session that it cannot begin. */
const INTERNAL_ERROR = 'XX000';
const OF_FILES =
  /No space left on device|Disk quota exceeded|Read-only file system|Input\/output error|could not (write|extend|create|open|read|fsync|flush) /i;
/** Faults that the driver reports without a code. */
const FAULT_OF_MESSAGE: readonly (readonly [RegExp, DatabaseFault])[] = [
  [/^timeout (exceeded|expired)/i, 'unavailable'],
  [/^Connection terminated due to connection timeout/, 'unavailable'],
  [/^Cannot use a pool after calling end/, 'unavailable'],
  [/^(Driver not Connected|Connection is not established)/i, 'unavailable'],
  [/^(Connection terminated|Client has encountered a connection error)/, 'lost'],
  // TypeORM's, of a transaction whose session ended between two statements, such as one of a process that was paused.
  [/^(Query runner|Database connection provided by a query runner was) already released/, 'lost'],
  [/^(Client was closed|Connection ended|Query read timeout)/, 'lost'],
];

const TRANSIENT: ReadonlySet<DatabaseFault> = new Set(['unavailable', 'lost', 'aborted']);

/** The kind of an error of the driver or of TypeORM. Any other error is `other`. */
export function databaseFaultOf(error: unknown): DatabaseFault {
  if (!types.isNativeError(error)) return 'other';
  const code = sqlStateOf(error);
  if (code !== undefined) {
    if (code === INTERNAL_ERROR && isOfServer(error)) return 'lost';
    return FAULT_OF_CODE[code] ?? (LOST_CLASS.test(code) ? 'lost' : 'other');
  }
  // For a host with several addresses, there is one error for each.
  if ('errors' in error && Array.isArray(error.errors)) return databaseFaultOf(error.errors[0]);
  return FAULT_OF_MESSAGE.find(([pattern]) => pattern.test(error.message))?.[1] ?? 'other';
}

/** Whether an internal error ended the session, or is about the server's files. */
function isOfServer(error: Error): boolean {
  const severity = 'severity' in error ? error.severity : undefined;
  return severity === 'FATAL' || severity === 'PANIC' || OF_FILES.test(error.message);
}

/**
 * Whether a statement that failed with this error may be tried again. Contention, lost connections and trouble of the
 * server may pass. A refused constraint or a fault of ours does not, and the statement was rolled back.
 */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(databaseFaultOf(error));
}

/** Whether a call waited in vain for a connection of the pool, because all of them were in use. */
export function isOfFullPool(error: unknown): boolean {
  return types.isNativeError(error) && /^timeout exceeded/i.test(error.message);
}

/** Whether the server says that it rolled the statement back because of others. */
export function isRolledBack(error: unknown): boolean {
  return databaseFaultOf(error) === 'aborted';
}

/** The SQLSTATE or system code of an error, if it has one. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = types.isNativeError(error) && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** What was wrong, in the words of the driver or of the system. */
export function reasonOf(error: unknown): string {
  if (!types.isNativeError(error)) return String(error);
  // For a host with several addresses, there is one error for each, and the whole has no text.
  if ('errors' in error && Array.isArray(error.errors)) return reasonOf(error.errors[0]);
  return error.message;
}

/** Whether the error is a row that this constraint refused. */
export function isCheckViolation(error: unknown, constraint: string): boolean {
  return (
    databaseFaultOf(error) === 'check' &&
    (error as { constraint?: unknown }).constraint === constraint
  );
}

/** Whether the error is a refused duplicate, of the named constraint or index if one is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (databaseFaultOf(error) !== 'unique') return false;
  return constraint === undefined || (error as { constraint?: unknown }).constraint === constraint;
}
