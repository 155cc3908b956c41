import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Signals, the mildest first, and the number of polls after each: fast shutdown, immediate shutdown, kill. */
const SIGNALS = [
  ['SIGINT', 100],
  ['SIGQUIT', 50],
  ['SIGKILL', 50],
] as const;
const POLL_MS = 100;

/**
 * Stops PostgreSQL processes that a killed gateway left on this cluster, and removes their pid file, whose number may
 * belong to another program by now. Call it only with the lock of the data directory. Throws when a process survives
 * every signal.
 */
export async function stopOrphans(cluster: string): Promise<void> {
  for (const [signal, polls] of SIGNALS) {
    for (let poll = 0; poll < polls; poll += 1) {
      const running = await processesOf(cluster);
      if (running.length === 0) return removeStalePidFile(cluster);
      if (poll === 0) await signalLeftovers(cluster, running, signal);
      await sleep(POLL_MS);
    }
  }
  throw new Error(`A PostgreSQL process on ${cluster} cannot be stopped`);
}

/**
 * Process numbers of this cluster: PostgreSQL programs whose working directory it is. No other process may be ended.
 */
async function processesOf(cluster: string): Promise<number[]> {
  if (process.platform !== 'linux') return postmasterByCommand(cluster);
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger);
  const isOurs = await Promise.all(
    pids.map(async (pid) => (await linkOf(pid, 'cwd')) === cluster && (await isPostgres(pid))),
  );
  return pids.filter((_pid, index) => isOurs[index]);
}

async function isPostgres(pid: number): Promise<boolean> {
  // If the file of a running program was replaced, its path is shown with a remark behind it.
  const program = (await linkOf(pid, 'exe')).replace(/ \(deleted\)$/, '');
  return basename(program) === 'postgres';
}

function linkOf(pid: number, name: 'cwd' | 'exe'): Promise<string> {
  return readlink(`/proc/${pid}/${name}`).catch(() => '');
}

async function postmasterByCommand(cluster: string): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,command=']);
  const lines = stdout.split('\n').filter((line) => line.includes(`postgres -D ${cluster} `));
  return lines.map((line) => Number.parseInt(line, 10));
}

async function signalLeftovers(
  cluster: string,
  running: readonly number[],
  signal: NodeJS.Signals,
): Promise<void> {
  const postmaster = await postmasterPid(cluster);
  // A running postmaster ends its children itself. Without one they are ended one by one.
  const targets = running.filter((pid) => pid === postmaster);
  for (const pid of targets.length > 0 && signal !== 'SIGKILL' ? targets : running) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

async function postmasterPid(cluster: string): Promise<number | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  return text === '' ? undefined : Number.parseInt(text, 10);
}

async function removeStalePidFile(cluster: string): Promise<void> {
  // On other systems a surviving child cannot be found, and PostgreSQL needs the file to detect it.
  if (process.platform === 'linux') await rm(join(cluster, 'postmaster.pid'), { force: true });
}
