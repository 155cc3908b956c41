import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { AuditReport } from '../billing/audit.js';
import { auditBooks } from '../billing/usage-audit.js';
import type { GatewayConfig } from '../config/gateway-config.js';
import { Database } from '../database/database.js';
import { DataDirLock } from '../database/embedded/data-dir-lock.js';
import { BackupError, refuseExternalDatabase } from './backup-error.js';
import { CLUSTER, FILES, KEY_FILE } from './backup-parts.js';
import { unpack } from './unpack.js';

const UNFINISHED = 'restore.unfinished';
const LOCK = 'postgres.lock';
/** What may lie in an empty data folder: a volume's own, and what we leave and take ourselves. */
const IGNORED = new Set(['lost+found', LOCK, UNFINISHED]);
/** The database comes last: a folder without one is no restored folder. */
const ORDER = [FILES, KEY_FILE, CLUSTER];
/** PostgreSQL's own user has to get through. */
const FOLDER_MODE = 0o755;

/** What was restored, and the proof of its books. */
export interface RestoreReport {
  /** Absolute path. */
  readonly dataDir: string;
  readonly contains: readonly string[];
  readonly audit: AuditReport;
}

/**
 * Makes an empty data folder of a backup: unpacks it beside, starts its database, migrates it, audits all of its books, and only
 * then gives everything its place (docs/adr/0017). Throws {@link BackupError}, `DataDirInUseError` or `SchemaTooNewError` where
 * something speaks against it; then the folder is as it was.
 */
export async function restore(
  config: GatewayConfig,
  file: string,
  signal: AbortSignal,
): Promise<RestoreReport> {
  refuseExternalDatabase(config.databaseUrl);
  const path = resolve(file);
  if (!existsSync(path)) throw new BackupError(`There is no file ${path}.`);
  const dataDir = resolve(config.dataDir);
  const made = await mkdir(dataDir, { recursive: true, mode: FOLDER_MODE });
  const hadLock = existsSync(join(dataDir, LOCK));
  const lock = await DataDirLock.acquire(dataDir);
  let isDone = false;
  try {
    await refuseUnlessEmpty(dataDir);
    const unfinished = join(dataDir, UNFINISHED);
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { mode: FOLDER_MODE });
    const contains = await unpack(path, unfinished, signal);
    const audit = await proven(unfinished);
    signal.throwIfAborted();
    await moveUp(contains, unfinished, dataDir);
    isDone = true;
    return { dataDir, contains, audit };
  } finally {
    await rm(join(dataDir, UNFINISHED), { recursive: true, force: true });
    await lock.release();
    if (!isDone && !hadLock) await rm(join(dataDir, LOCK), { force: true });
    if (!isDone && made !== undefined) await removeMade(dataDir, made);
  }
}

async function refuseUnlessEmpty(dataDir: string): Promise<void> {
  const found = (await readdir(dataDir)).filter((name) => !IGNORED.has(name));
  if (found.length === 0) return;
  throw new BackupError(
    `${dataDir} is not empty (${found.slice(0, 3).join(', ')}). Restore into a new one: set DATA_DIR.`,
  );
}

/** The audit of an unpacked database, which recovers and migrates at its start. Throws {@link BackupError} where the books are not right. */
async function proven(dataDir: string): Promise<AuditReport> {
  const database = new Database({ databaseUrl: undefined, dataDir });
  const report = await auditBooks(await database.open(), 'full').finally(() => database.close());
  if (report.ok) return report;
  const [first] = report.discrepancies;
  throw new BackupError(
    `The books in the backup are not right: ${first?.rule ?? ''} (account ${first?.accountId ?? ''}: ${first?.detail ?? ''}).`,
  );
}

async function moveUp(parts: readonly string[], from: string, to: string): Promise<void> {
  for (const part of ORDER.filter((name) => parts.includes(name))) {
    await rename(join(from, part), join(to, part));
  }
  const folder = await open(to);
  await folder.sync().finally(() => folder.close());
}

/** Takes away the folders that we made. */
async function removeMade(dataDir: string, made: string): Promise<void> {
  for (let folder = dataDir; folder.length >= made.length; folder = dirname(folder)) {
    await rmdir(folder);
  }
}
