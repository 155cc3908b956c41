import { readdir, readFile } from 'node:fs/promises';

/** Ticks of the kernel's accounting in a second, as Linux reports them to programs. */
const TICKS_PER_SECOND = 100;

interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  readonly microseconds: number;
}

/** CPU microseconds that a process has used, user and system together. */
export async function cpuOf(pid: number): Promise<number> {
  return (await timesOf(pid))?.microseconds ?? 0;
}

/** CPU microseconds of the PostgreSQL processes that a gateway started, those that ended included. */
export async function databaseCpuOf(gatewayPid: number): Promise<number> {
  const all = await processes();
  const below = new Set([gatewayPid]);
  for (let size = 0; size !== below.size;) {
    size = below.size;
    for (const { pid, parent } of all) if (below.has(parent)) below.add(pid);
  }
  return all
    .filter(({ pid, name }) => below.has(pid) && name.startsWith('postgres'))
    .reduce((sum, { microseconds }) => sum + microseconds, 0);
}

async function processes(): Promise<ProcessTimes[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(pids.map((pid) => timesOf(Number(pid))));
  return all.flatMap((times) => times ?? []);
}

async function timesOf(pid: number): Promise<ProcessTimes | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  const close = stat.lastIndexOf(')');
  const fields = stat.slice(close + 2).split(' ');
  const [user = 0, system = 0] = fields.slice(11, 13).map(Number);
  return {
    pid,
    parent: Number(fields[1]),
    name: stat.slice(stat.indexOf('(') + 1, close),
    microseconds: ((user + system) * 1_000_000) / TICKS_PER_SECOND,
  };
}
