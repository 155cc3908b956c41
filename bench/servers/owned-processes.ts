import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** A gateway stops its database when it is asked to end; what has not ended after this time is killed. */
const PATIENCE_MS = 30_000;

const owned = new Set<ChildProcess>();

/** A process that ends with this one, however that ends. */
export function ownProcess<Child extends ChildProcess>(child: Child): Child {
  owned.add(child);
  child.once('exit', () => owned.delete(child)).once('error', () => owned.delete(child));
  return child;
}

/** Ends every process that still runs. */
export async function endOwnProcesses(): Promise<void> {
  await Promise.all([...owned].map(endOf));
}

/** From now on a signal ends the processes, and then this one. */
export function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void endOwnProcesses().finally(() => process.exit(1)));
  }
}

async function endOf(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  const kill = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  child.kill('SIGTERM');
  await exited;
  clearTimeout(kill);
}
