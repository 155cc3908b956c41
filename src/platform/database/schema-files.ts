import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { QueryRunner } from 'typeorm';
import { GATEWAY_VERSION } from '../../common/version.js';
import { isNewerVersion } from './schema-version.js';

const FOLDER = new URL('./schema/', import.meta.url);
/** In the order of execution. They are listed here, because a build does not delete files that were removed. */
export const SCHEMA_FILES = [
  '00-schema.sql',
  '10-accounts.sql',
  '12-price-books.sql',
  '14-catalog.sql',
  '15-catalog.functions.sql',
  '16-routes.sql',
  '20-keys.sql',
  '21-keys.functions.sql',
  '30-ledger.sql',
  '31-ledger.functions.sql',
  '32-lots.sql',
  '33-lots.functions.sql',
  '40-executions.sql',
  '41-executions.functions.sql',
  '42-processes.sql',
  '43-processes.functions.sql',
  '44-former-executions.functions.sql',
  '45-runs.sql',
  '46-runs.functions.sql',
  '50-tasks.sql',
  '51-task-submission.functions.sql',
  '52-task-work.functions.sql',
  '53-task-ends.functions.sql',
  '54-former-task-ends.functions.sql',
  '60-webhooks.sql',
  '61-webhooks.functions.sql',
  '62-events.sql',
  '63-events.functions.sql',
  '70-files.sql',
  '72-responses.sql',
  '73-responses.functions.sql',
  '74-kept-answers.sql',
  '75-kept-answers.functions.sql',
  '80-usage.sql',
  '81-usage.functions.sql',
  '82-statements.functions.sql',
  '83-usage-of-runs.sql',
  '84-usage-by-hour.sql',
  '85-limits.sql',
  '86-limits.functions.sql',
  '90-retention.sql',
  '91-retention.functions.sql',
  '95-audit.sql',
  '96-operators.sql',
  '97-console.sql',
  '98-triggers.sql',
] as const;
const GRANTS = { gateway: '99-grants.sql', reader: '99-reader.sql' } as const;
const FUNCTIONS = '.functions.sql';
/** In the other files only the comments may be run again: a statement of its own that begins a line. */
const COMMENT_STATEMENT = /^COMMENT ON (?:[^']|'[^']*')*?;$/gm;

const read = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

/** The statements of a schema file that are run again when they change. */
interface Repeatable {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** The checksum of a file that a database has applied. */
interface AppliedFile {
  readonly name: string;
  readonly checksum: string;
  readonly version: string;
}

/** The functions and views of the schema, and the comments on its tables; in the order of the files. */
function repeatables(): Repeatable[] {
  return SCHEMA_FILES.flatMap((name) => {
    const text = read(name);
    const sql = name.endsWith(FUNCTIONS) ? text : (text.match(COMMENT_STATEMENT) ?? []).join('\n');
    if (sql === '') return [];
    return [{ name, sql, checksum: createHash('sha256').update(sql).digest('hex') }];
  });
}

/** Functions name tables and functions of later files. */
const UNCHECKED = 'SET LOCAL check_function_bodies = off';

/** Creates the whole current schema in an empty database, within the transaction of the runner. */
export async function createSchema(runner: QueryRunner): Promise<void> {
  await runner.query(UNCHECKED);
  for (const name of SCHEMA_FILES) await runner.query(read(name));
  for (const file of repeatables()) await note(runner, file);
}

/**
 * Runs the functions, views and comments that differ from those that the database has, within the transaction of the runner;
 * returns the names of their files. Those of a newer version stay.
 */
export async function applyChangedFiles(runner: QueryRunner): Promise<string[]> {
  const changed = await changedFiles(runner);
  if (changed.length > 0) await runner.query(UNCHECKED);
  for (const file of changed) {
    await runner.query(file.sql);
    await note(runner, file);
  }
  return changed.map(({ name }) => name);
}

/** The names of the files that {@link applyChangedFiles} would run. */
export async function pendingFiles(runner: QueryRunner): Promise<string[]> {
  return (await changedFiles(runner)).map(({ name }) => name);
}

/** The statements that give a role the rights of the gateway's processes, or those of one that only reads. `role` is an escaped identifier. */
export function grantsOf(kind: keyof typeof GRANTS, role: string): string {
  const sql = read(GRANTS[kind]).replace(/^--.*\n/gm, '');
  return sql.replaceAll(':role', () => role);
}

async function appliedFiles(runner: QueryRunner): Promise<AppliedFile[]> {
  // Version 0.1.0 has no such table.
  if (!(await runner.hasTable('schema_file'))) return [];
  return (await runner.query('SELECT name, checksum, version FROM schema_file')) as AppliedFile[];
}

/** An older process that starts again beside newer ones must not undo their functions. */
async function changedFiles(runner: QueryRunner): Promise<Repeatable[]> {
  const applied = await appliedFiles(runner);
  const known = new Map(applied.map((file) => [file.name, file]));
  return repeatables().filter(({ name, checksum }) => {
    const file = known.get(name);
    return file === undefined || (file.checksum !== checksum && !isNewerVersion(file.version));
  });
}

async function note(runner: QueryRunner, { name, checksum }: Repeatable): Promise<void> {
  await runner.query(
    `INSERT INTO schema_file (name, checksum, version) VALUES ($1, $2, $3)
     ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, version = excluded.version, applied_at = now()`,
    [name, checksum, GATEWAY_VERSION],
  );
}
