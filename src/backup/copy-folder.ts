import { chmod, lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ClusterPaths } from '../platform/database/embedded/cluster.js';
import {
  DataDirInUseError,
  DataDirLock,
  LOCK_FILE,
} from '../platform/database/embedded/data-dir-lock.js';
import { stopOrphans } from '../platform/database/embedded/orphan-processes.js';

const PREFIX = '.shim-backup-';
const NAME = /^\.shim-backup-[0-9A-Za-z]{6}$/;
/** The data folder of the copy, below the folder with the lock. */
const DATA = 'data';
/** The user of PostgreSQL must be able to pass through. The database itself is that user's alone. */
const PASSABLE_MODE = 0o711;
/** Most folders that one backup removes; the next one removes more. */
const MAX_REMOVED = 20;

/** A folder beside an archive for a copy of the cluster, locked as long as the process of its backup lives. */
export class CopyFolder {
  private constructor(
    private readonly path: string,
    private readonly lock: DataDirLock,
  ) {}

  /** Makes a new one beside `file`. */
  static async beside(file: string): Promise<CopyFolder> {
    const path = await mkdtemp(join(dirname(file), PREFIX));
    try {
      await chmod(path, PASSABLE_MODE);
      const folder = new CopyFolder(path, await DataDirLock.acquire(path));
      await mkdir(folder.dataDir);
      await chmod(folder.dataDir, PASSABLE_MODE);
      return folder;
    } catch (error) {
      await rm(path, { recursive: true, force: true });
      throw error;
    }
  }

  /** The data folder of a server on the copy. */
  get dataDir(): string {
    return join(this.path, DATA);
  }

  async remove(): Promise<void> {
    await removeWithServer(this.path);
    await this.lock.release();
  }
}

/** Removes the folders of this user beside `file` whose backups were killed, with their servers. Those of running backups stay. */
export async function removeLeftCopies(file: string): Promise<void> {
  const beside = dirname(file);
  // Whether the archive can be made there is found out when it is made.
  const found = (await readdir(beside).catch(() => [])).filter((name) => NAME.test(name));
  for (const name of found.slice(0, MAX_REMOVED)) await removeIfLeft(join(beside, name));
}

async function removeIfLeft(path: string): Promise<void> {
  // Another user could have put anything under such a name. Without a lock file nothing was copied yet.
  if (!(await isOurs(path, 'folder')) || !(await isOurs(join(path, LOCK_FILE), 'file'))) return;
  const lock = await DataDirLock.acquire(path).catch((error: unknown) => {
    if (error instanceof DataDirInUseError) return undefined;
    throw error;
  });
  if (lock === undefined) return;
  try {
    await removeWithServer(path);
  } finally {
    await lock.release();
  }
}

async function removeWithServer(path: string): Promise<void> {
  const { cluster, socketDirectory } = await ClusterPaths.in(join(path, DATA));
  await stopOrphans(cluster);
  await rm(socketDirectory, { recursive: true, force: true });
  await rm(path, { recursive: true, force: true });
}

async function isOurs(path: string, kind: 'folder' | 'file'): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.uid !== process.getuid?.()) return false;
  return kind === 'folder' ? found.isDirectory() : found.isFile();
}
