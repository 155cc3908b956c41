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
