/** Why a backup or a restore was refused, in a sentence for the operator. Nothing was changed. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** External databases are backed up with PostgreSQL's own tools. */
export function refuseExternalDatabase(databaseUrl: string | undefined): void {
  if (databaseUrl === undefined) return;
  throw new BackupError(
    'backup and restore are for the embedded database. With DATABASE_URL use the tools of PostgreSQL: docs/operate/operations.md, "Backup of a real server".',
  );
}
