import { join } from 'node:path';
import type pg from 'pg';
import { EmbeddedPostgres } from '../platform/database/embedded/embedded-postgres.js';
import { CLUSTER } from './backup-parts.js';
import type { BackupTarget } from './backup-target.js';
import { connect, copyCluster, copyStoppedCluster } from './cluster-copy.js';
import { CopyFolder } from './copy-folder.js';
import { FolderWriter } from './folder-writer.js';

/** New segments of the log begin empty, and nothing is written that was not asked for. */
const SETTINGS = { wal_recycle: 'off', wal_init_zero: 'on', autovacuum: 'off' };
/** The tables with what was said. A database of an older version may not have them. */
const TABLES = `
  SELECT c.oid::regclass::text AS name, c.oid::text AS oid FROM pg_class c
   WHERE c.oid IN (to_regclass('stored_content'), to_regclass('stored_item'), to_regclass('stored_response'),
                  to_regclass('kept_answer'))`;

/**
 * Adds a running cluster without stored conversations: copies it to a folder beside `file`, empties the tables of conversations
 * in the copy, and adds the copy with the log that begins after that. So nothing that was said is in a page or in the log
 * (docs/architecture/adr/0017). `atEnd` as for {@link copyCluster}.
 */
export async function addWithoutContent(
  url: string,
  cluster: string,
  { file, writer, signal }: { file: string; writer: BackupTarget; signal: AbortSignal },
  atEnd: () => Promise<void>,
): Promise<void> {
  const folder = await CopyFolder.beside(file);
  try {
    const { dataDir } = folder;
    const copy = new FolderWriter(dataDir, signal);
    await copyCluster(url, cluster, copy, CLUSTER, atEnd);
    // As in a restore: its settings may name commands.
    copy.addText(`${CLUSTER}/postgresql.auto.conf`, '');
    signal.throwIfAborted();
    const first = await empty(dataDir);
    await copyStoppedCluster(join(dataDir, CLUSTER), writer, CLUSTER, first);
  } finally {
    await folder.remove();
  }
}

/** Empties the tables of the copy. Returns the name of the first segment of its log that a start needs. */
async function empty(dataDir: string): Promise<string> {
  const server = await EmbeddedPostgres.start({ dataDir, settings: SETTINGS });
  try {
    const client = await connect(server.url);
    try {
      return await emptyTables(client);
    } finally {
      await client.end();
    }
  } finally {
    await server.stop();
  }
}

async function emptyTables(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string; oid: string }>(TABLES);
  if (rows.length > 0) await client.query(`TRUNCATE ${rows.map(({ name }) => name).join(', ')}`);
  // Samples of the texts are among the statistics. The table is written anew, without what was deleted from it.
  await client.query('DELETE FROM pg_statistic WHERE starelid = ANY ($1::oid[])', [
    rows.map(({ oid }) => oid),
  ]);
  await client.query('VACUUM (FULL) pg_statistic');
  // The first removes the emptied files, the second makes the log before it needless.
  await client.query('CHECKPOINT');
  await client.query('SELECT pg_switch_wal()');
  await client.query('CHECKPOINT');
  const { rows: log } = await client.query<{ first: string }>(
    'SELECT redo_wal_file AS first FROM pg_control_checkpoint()',
  );
  const [begin] = log;
  if (begin === undefined) throw new Error('The server did not tell where its log begins');
  return begin.first;
}
