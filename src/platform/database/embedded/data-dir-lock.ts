import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The file of the lock in its data directory. */
export const LOCK_FILE = 'postgres.lock';
/** A gateway that was just killed may need this long to release the lock. */
const WAIT_SECONDS = 2;
const IN_USE_EXIT_CODE = 75;

/** The data directory belongs to another running process. */
export class DataDirInUseError extends Error {
  override readonly name = 'DataDirInUseError';

  constructor(dataDir: string, pid: string) {
    super(
      `DATA_DIR ${dataDir} is in use by process ${pid}. Stop it, or set another DATA_DIR, or DATABASE_URL.`,
    );
  }
}

/**
 * The lock of a data directory, for one owner. The kernel keeps it (`flock`) in a child process that ends with its
 * parent. So a killed gateway leaves no stale lock, and containers that share a volume see each other's lock.
 */
export class DataDirLock {
  private constructor(private readonly holder: ChildProcess | undefined) {}

  /** Takes the lock; throws {@link DataDirInUseError} when another process has it. */
  static async acquire(dataDir: string): Promise<DataDirLock> {
    const file = join(dataDir, LOCK_FILE);
    const lock = new DataDirLock(await holdLock(file, dataDir));
    await writeFile(file, String(process.pid));
    return lock;
  }

  /** Releases the lock. */
  async release(): Promise<void> {
    if (this.holder?.exitCode !== null || this.holder.signalCode !== null) return;
    const exited = once(this.holder, 'exit');
    this.holder.stdin?.end();
    await exited;
  }
}

async function holdLock(file: string, dataDir: string): Promise<ChildProcess | undefined> {
  // The child prints a line once it has the lock, then waits for the end of its input, which comes when this process
  // dies or calls release().
  const holder = spawn(
    'flock',
    [
      ...['--timeout', String(WAIT_SECONDS), '--conflict-exit-code', String(IN_USE_EXIT_CODE)],
      ...[file, 'sh', '-c', 'echo locked && exec cat'],
    ],
    { detached: true, stdio: ['pipe', 'pipe', 'ignore'] },
  );
  // The child may have ended when its input is closed.
  holder.on('error', () => undefined).stdin.on('error', () => undefined);
  const outcome = await new Promise<'held' | number | null | NodeJS.ErrnoException>((resolve) => {
    holder.once('error', resolve);
    holder.once('exit', resolve);
    holder.stdout.once('data', () => {
      resolve('held');
    });
  });
  if (outcome === 'held') return holder;
  if (outcome === IN_USE_EXIT_CODE) throw new DataDirInUseError(dataDir, await ownerOf(file));
  if (outcome instanceof Error && outcome.code === 'ENOENT') {
    await throwIfOwnerLives(file, dataDir);
    return undefined;
  }
  throw new Error(`DATA_DIR ${dataDir} cannot be locked`, { cause: outcome });
}

/** Without `flock` (macOS), the process number of the owner is used. */
async function throwIfOwnerLives(file: string, dataDir: string): Promise<void> {
  const pid = Number(await ownerOf(file));
  if (!Number.isInteger(pid) || pid === process.pid) return;
  try {
    process.kill(pid, 0);
  } catch {
    return;
  }
  throw new DataDirInUseError(dataDir, String(pid));
}

async function ownerOf(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text === '' ? 'unknown' : text;
}
