import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import pg from 'pg';
import { databaseFaultOf } from '../platform/database/database-errors.js';
import type { BackupTarget } from './backup-target.js';
import { filesBelow } from './files-below.js';

/** Tries to connect, because a gateway may be starting at the same time. */
const CONNECT_TRIES = 30;
const CONNECT_RETRY_MS = 1_000;
const LABEL = 'shim backup';
/** Folders that the server fills again when it starts (PostgreSQL manual: Making a Base Backup Using the Low Level API). */
const MADE_ANEW = new Set(
  ['dynshmem', 'notify', 'replslot', 'serial', 'snapshots', 'stat_tmp', 'subtrans', 'wal'].map(
    (name) => `pg_${name}`,
  ),
);
const LEFT_OUT =
  /(^|\/)(backup_label\.old|postmaster\.(pid|opts)|\.s\.PGSQL\.[^/]*|pg_internal\.init[^/]*|pgsql_tmp.*)$/;
/** Tells where recovery begins. It must not be older than any other file, so it is copied last. */
const CONTROL = 'global/pg_control';
const LOG_SEGMENT = /^([0-9A-F]{24}|[0-9A-F]{8}\.history)$/;

/**
 * Adds the files of a running cluster and the log that makes them consistent as of the end of the copy. Calls continue
 * meanwhile. `prefix` is the folder in the archive. `atEnd` is called just before and just after the end of the copy. The
 * server ends the backup mode when the connection ends, however it ends.
 */
export async function copyCluster(
  url: string,
  cluster: string,
  writer: BackupTarget,
  prefix: string,
  atEnd: () => Promise<void>,
): Promise<void> {
  const client = await connect(url);
  try {
    // Makes the server keep the log from here on until the connection ends.
    await client.query('SELECT pg_create_physical_replication_slot($1, true, true)', [
      `shim_backup_${process.pid}`,
    ]);
    const first = await segmentOf(client, `pg_backup_start('${LABEL}', true)`);
    writer.addFolder(prefix);
    await copyFiles(cluster, writer, prefix);
    await atEnd();
    const { rows } = await client.query<{ last: string; label: string }>(
      'SELECT pg_walfile_name(lsn) AS last, labelfile AS label FROM pg_backup_stop(false)',
    );
    await atEnd();
    const [end] = rows;
    if (end === undefined) throw new Error('The server did not end the backup');
    writer.addText(`${prefix}/backup_label`, end.label);
    await copyLog(cluster, writer, prefix, (segment) => segment >= first && segment <= end.last);
  } finally {
    await client.end();
  }
}

/** Adds the files of a cluster that was stopped, with its log from the segment `first` on. */
export async function copyStoppedCluster(
  cluster: string,
  writer: BackupTarget,
  prefix: string,
  first: string,
): Promise<void> {
  writer.addFolder(prefix);
  await copyFiles(cluster, writer, prefix);
  await copyLog(cluster, writer, prefix, (segment) => segment >= first);
}

async function copyFiles(cluster: string, writer: BackupTarget, prefix: string): Promise<void> {
  for await (const { name, isFolder } of filesBelow(cluster, (folder) => MADE_ANEW.has(folder))) {
    if (isFolder) writer.addFolder(`${prefix}/${name}`);
    else if (!LEFT_OUT.test(name) && name !== CONTROL) {
      await writer.addFile(`${prefix}/${name}`, join(cluster, name));
    }
  }
  await writer.addFile(`${prefix}/${CONTROL}`, join(cluster, CONTROL));
}

async function copyLog(
  cluster: string,
  writer: BackupTarget,
  prefix: string,
  isNeeded: (segment: string) => boolean,
): Promise<void> {
  for await (const { name } of filesBelow(join(cluster, 'pg_wal'), () => true)) {
    if (!LOG_SEGMENT.test(name) || !(name.endsWith('.history') || isNeeded(name))) continue;
    await writer.addFile(`${prefix}/pg_wal/${name}`, join(cluster, 'pg_wal', name));
  }
}

/** Name of the log file that contains the position that the expression returns. */
async function segmentOf(client: pg.Client, expression: string): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT pg_walfile_name(${expression}) AS name`,
  );
  return rows[0]?.name ?? '';
}

export async function connect(url: string): Promise<pg.Client> {
  for (let attempt = 1; ; attempt += 1) {
    const client = new pg.Client({ connectionString: url, application_name: 'shim-backup' });
    // A connection that breaks fails its statement.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      const fault = databaseFaultOf(error);
      const isPassing = fault === 'unavailable' || fault === 'lost';
      if (!isPassing || attempt === CONNECT_TRIES) throw error;
      await sleep(CONNECT_RETRY_MS);
    }
  }
}
