import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { AuditReport } from '../billing/audit/audit.js';
import { auditBooks } from '../billing/audit/usage-audit.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { Database } from '../platform/database/database.js';
import { DataDirLock, LOCK_FILE } from '../platform/database/embedded/data-dir-lock.js';
import { JOURNAL_FOLDER } from '../billing/recovery/reversal-journal.js';
import { GENERATED_KEY_FILE } from '../platform/config/secret-key-file.js';
import { BackupError, rejectExternalDatabase, CLUSTER, FILES } from './backup-parts.js';
import { type OpenWork, settleOpenWork } from './open-work.js';
import { unpack } from './unpack.js';

const UNFINISHED = 'restore.unfinished';
/** Entries that an empty data folder may have: those of a volume, and temporary ones of the gateway. */
const IGNORED = new Set(['lost+found', LOCK_FILE, UNFINISHED]);
/** The database is moved last, because a folder without one does not count as restored. */
const ORDER = [FILES, GENERATED_KEY_FILE, JOURNAL_FOLDER, CLUSTER];
/** The user of PostgreSQL must be able to pass through the folder. */
const FOLDER_MODE = 0o755;

/** What was restored, and the audit of its ledger. */
export interface RestoreReport {
  /** Absolute path. */
  readonly dataDir: string;
  readonly contains: readonly string[];
  readonly audit: AuditReport;
  readonly work: OpenWork;
}

/** `resumes`: tasks that were open at the backup continue as if nothing had happened since. */
interface RestoreTerms {
  readonly resumes: boolean;
}

/**
 * Restores a backup into an empty data folder. It unpacks the backup to a temporary folder, starts and migrates the database
 * and runs a full audit. Open tasks are left to an operator, unless `resumes` (decision G-111). Then it moves everything into
 * the data folder (docs/architecture/adr/0017). Throws {@link BackupError}, `DataDirInUseError`, `SchemaTooNewError` or
 * `SchemaTooOldError` if it cannot restore; then the folder is unchanged.
 */
export async function restore(
  config: GatewayConfig,
  file: string,
  signal: AbortSignal,
  { resumes }: RestoreTerms = { resumes: false },
): Promise<RestoreReport> {
  rejectExternalDatabase(config.databaseUrl);
  const path = resolve(file);
  if (!existsSync(path)) throw new BackupError(`There is no file ${path}.`);
  const dataDir = resolve(config.dataDir);
  const created = await mkdir(dataDir, { recursive: true, mode: FOLDER_MODE });
  const hadLock = existsSync(join(dataDir, LOCK_FILE));
  const lock = await DataDirLock.acquire(dataDir);
  let isDone = false;
  try {
    await rejectUnlessEmpty(dataDir);
    const unfinished = join(dataDir, UNFINISHED);
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { mode: FOLDER_MODE });
    const contains = await unpack(path, unfinished, signal);
    const { audit, work } = await proven(unfinished, resumes);
    signal.throwIfAborted();
    await moveUp(contains, unfinished, dataDir);
    isDone = true;
    return { dataDir, contains, audit, work };
  } finally {
    await rm(join(dataDir, UNFINISHED), { recursive: true, force: true });
    await lock.release();
    if (!isDone && !hadLock) await rm(join(dataDir, LOCK_FILE), { force: true });
    if (!isDone && created !== undefined) await removeCreated(dataDir, created);
  }
}

async function rejectUnlessEmpty(dataDir: string): Promise<void> {
  const found = (await readdir(dataDir)).filter((name) => !IGNORED.has(name));
  if (found.length === 0) return;
  throw new BackupError(
    `${dataDir} is not empty (${found.slice(0, 3).join(', ')}). Restore into a new one: set DATA_DIR.`,
  );
}

/**
 * Starts an unpacked database, which recovers and migrates it, and returns its audit and its open work. Throws
 * {@link BackupError} if the audit finds errors.
 */
async function proven(
  dataDir: string,
  resumes: boolean,
): Promise<Pick<RestoreReport, 'audit' | 'work'>> {
  const database = new Database({ databaseUrl: undefined, dataDir });
  try {
    const dataSource = await database.open();
    const audit = await auditBooks(dataSource, 'full');
    if (audit.ok) return { audit, work: await settleOpenWork(dataSource, resumes) };
    const [first] = audit.discrepancies;
    throw new BackupError(
      `The books in the backup are not right: ${first?.rule ?? ''} (account ${first?.accountId ?? ''}: ${first?.detail ?? ''}).`,
    );
  } finally {
    await database.close();
  }
}

async function moveUp(parts: readonly string[], from: string, to: string): Promise<void> {
  for (const part of ORDER.filter((name) => parts.includes(name))) {
    await rename(join(from, part), join(to, part));
  }
  const folder = await open(to);
  await folder.sync().finally(() => folder.close());
}

/** Removes the folders that the restore created. */
async function removeCreated(dataDir: string, created: string): Promise<void> {
  for (let folder = dataDir; folder.length >= created.length; folder = dirname(folder)) {
    await rmdir(folder);
  }
}
