import type { ClientConfig } from 'pg';

/** Longest wait for a row lock, unless a statement says otherwise. */
export const LOCK_TIMEOUT_MS = 2_000;
/** Longest statement. */
const STATEMENT_TIMEOUT_MS = 5_000;
/** Longest idle time in a transaction. Then the server ends the session. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;

/** The settings of each session, whatever the defaults of the server are. Times are in milliseconds. */
const SETTINGS: Readonly<Record<string, string>> = {
  lock_timeout: String(LOCK_TIMEOUT_MS),
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_TIMEOUT_MS),
  // JIT compilation takes seconds where a plan's cost is huge only because a scan type is disabled (enable_seqscan).
  jit: 'off',
  // Days of usage and of spend limits are days of UTC.
  timezone: 'UTC',
};

const VALUES = Object.entries(SETTINGS).map(([name, value]) => `('${name}', '${value}')`);

/** Timeouts of migrations and audits. */
const PATIENT_TIMEOUT_MS = 3_600_000;

const optionsOf = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
const PATIENT = {
  lock_timeout: String(PATIENT_TIMEOUT_MS),
  statement_timeout: String(PATIENT_TIMEOUT_MS),
};

/** How a session gets its settings. */
export const SESSION_SETTINGS = {
  /** Parameters of its start. */
  startUp: { options: optionsOf(SETTINGS) } satisfies ClientConfig,
  /** The same without the time limits of normal work. */
  patientStartUp: { options: optionsOf({ ...SETTINGS, ...PATIENT }) } satisfies ClientConfig,
  /** Ends these limits for the rest of a transaction, also behind a pooler. It takes no snapshot, unlike a SELECT. */
  patience: Object.entries({ ...PATIENT, idle_in_transaction_session_timeout: '0' })
    .map(([name, value]) => `SET LOCAL ${name} = ${value}`)
    .join('; '),
  /** Whether the session has all of them. */
  check: `
    SELECT coalesce(bool_and(lower(p.setting) = lower(w.value)), false) AS kept
      FROM (VALUES ${VALUES.join(', ')}) w (name, value) LEFT JOIN pg_settings p ON lower(p.name) = lower(w.name)`,
  /** Makes them the defaults of this role in this database, where a pooler passes none on. Each is a statement. */
  ofRole: `
    SELECT format('ALTER ROLE %I IN DATABASE %I SET %I = %L', current_user, current_database(), w.name, w.value) AS statement
      FROM (VALUES ${VALUES.join(', ')}) w (name, value)
     WHERE NOT EXISTS (
       SELECT FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase JOIN pg_roles r ON r.oid = s.setrole
        WHERE d.datname = current_database() AND r.rolname = current_user AND w.name || '=' || w.value = ANY (s.setconfig))`,
} as const;
