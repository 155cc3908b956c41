/**
 * Folders and files of a data folder that a backup holds, beside `GENERATED_KEY_FILE` and `JOURNAL_FOLDER`. They have the same
 * names in the backup.
 */
export const CLUSTER = 'postgres';
/** Stored files, if they are kept in the data folder. */
export const FILES = 'files';

/** The first entry of every archive. It says what the archive is. */
export const HEAD = 'shim-backup.json';
/** The last entry of every archive. It proves that nothing is missing. */
export const END = 'shim-backup-end';
/** Increased when older versions of the gateway cannot read new archives. */
export const FORMAT = 2;

/** A backup or restore was refused and nothing was changed. The message is a sentence for the operator. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** Throws for an external database, which is backed up with PostgreSQL's own tools. */
export function rejectExternalDatabase(databaseUrl: string | undefined): void {
  if (databaseUrl === undefined) return;
  throw new BackupError(
    'backup and restore are for the embedded database. With DATABASE_URL use the tools of PostgreSQL: docs/operate/operations.md, "Backup of a real server".',
  );
}
