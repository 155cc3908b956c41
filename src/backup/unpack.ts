import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { JOURNAL_FOLDER } from '../billing/recovery/reversal-journal.js';
import { GENERATED_KEY_FILE } from '../platform/config/secret-key-file.js';
import { BackupError, CLUSTER, END, FILES, FORMAT, HEAD } from './backup-parts.js';
import { PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE } from '../common/private-files.js';

type Archive = ReturnType<typeof extract>;
type Entry = Archive extends AsyncIterable<infer Member> ? Member : never;

/** Paths that a backup may contain. None of them leaves the folder. */
const PART = new RegExp(
  `^(${CLUSTER}|${FILES}|${JOURNAL_FOLDER})(/(?!\\.\\.?(/|$))[^/\\0]+)*$|^${GENERATED_KEY_FILE}$`,
);

/** Files of a database that make the server run commands or follow paths. The gateway's backups never contain them. */
const COMMANDS = new RegExp(
  `^${CLUSTER}/((recovery|standby)\\.signal|tablespace_map|pg_tblspc/.+)$`,
);
/** Settings of `ALTER SYSTEM`, which the gateway never uses and which may name commands. */
const CHANGED_SETTINGS = `${CLUSTER}/postgresql.auto.conf`;

/**
 * Unpacks a backup into an existing folder; returns its parts. Throws {@link BackupError} for a file that is not a backup,
 * is truncated or damaged, or has a newer format. Then the folder may contain a part of the backup.
 */
export async function unpack(file: string, folder: string, signal: AbortSignal): Promise<string[]> {
  signal.throwIfAborted();
  const archive = extract();
  // The pipeline reports the first error. Later errors need a listener, too.
  archive.on('error', () => undefined);
  const reading = pipeline(createReadStream(file), createGunzip(), archive, { signal });
  const unpacking = unpackEntries(archive, folder).catch((error: unknown) => {
    archive.destroy(error as Error);
    throw error;
  });
  const [read, unpacked] = await Promise.allSettled([reading, unpacking]);
  const failure = [unpacked, read].find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw asBackupError(failure.reason, file, signal);
  return unpacked.status === 'fulfilled' ? unpacked.value : [];
}

async function unpackEntries(archive: Archive, folder: string): Promise<string[]> {
  const parts = new Set<string>();
  let position: 'start' | 'inside' | 'end' = 'start';
  for await (const entry of archive) {
    const { name, type } = entry.header;
    const path = name.replace(/\/$/, '');
    if (position === 'start') await readHead(path, entry);
    else if (position === 'inside' && path !== END) {
      if (!isKnown(path, type)) throw new BackupError(`it has an unknown part: ${path}`);
      if (path === CHANGED_SETTINGS)
        await writeFile(join(folder, path), '', { mode: PRIVATE_FILE_MODE });
      else await unpackEntry(join(folder, path), type === 'directory', entry);
      parts.add(path.split('/', 1)[0] ?? '');
    }
    position = path === END ? 'end' : 'inside';
    entry.resume();
  }
  if (position !== 'end' || !parts.has(CLUSTER)) throw new BackupError('it is not whole');
  return [...parts];
}

function isKnown(path: string, type: Entry['header']['type']): boolean {
  return (type === 'file' || type === 'directory') && PART.test(path) && !COMMANDS.test(path);
}

async function readHead(name: string, entry: Entry): Promise<void> {
  if (name !== HEAD) throw new BackupError('it is no backup of a gateway');
  const { format } = JSON.parse(await text(entry)) as { format?: unknown };
  if (typeof format === 'number' && format <= FORMAT) return;
  throw new BackupError('a newer version of the gateway wrote it');
}

async function unpackEntry(path: string, isFolder: boolean, entry: Entry): Promise<void> {
  if (isFolder) await mkdir(path, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  else
    await pipeline(
      entry,
      createWriteStream(path, { mode: PRIVATE_FILE_MODE, flags: 'wx', flush: true }),
    );
}

function asBackupError(error: unknown, file: string, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR' || code === 'ENOSPC') {
    return new BackupError(message);
  }
  const reason = error instanceof BackupError ? message : `it is torn or damaged (${message})`;
  return new BackupError(`${file} cannot be restored: ${reason}.`);
}
