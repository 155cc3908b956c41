import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { ownProcess } from './owned-processes.js';

const COMPOSE = new URL('../../docker-compose.yml', import.meta.url);
const SYSCTL = /^ +(net\.ipv4\.\w+): '([\d ]+)'$/gm;
/** Environment variable of a process that runs in such a network. */
const INSIDE = 'BENCH_CONTAINER_NETWORK';

/** Whether this process has the network of {@link runInContainerNetwork}. */
export function isInContainerNetwork(): boolean {
  return process.env[INSIDE] !== undefined;
}

/**
 * Runs this program once more, for one benchmark, in a network of its own with the socket buffers that `docker-compose.yml`
 * gives the gateway. Answers whether the benchmark met its targets; throws where the system allows no such network.
 */
export async function runInContainerNetwork(name: string): Promise<boolean> {
  const settings = [...(await readFile(COMPOSE, 'utf8')).matchAll(SYSCTL)];
  if (settings.length === 0) throw new Error('docker-compose.yml names no socket buffers');
  const set = settings.map(
    ([, key = '', value = '']) => `echo '${value}' > /proc/sys/${key.replaceAll('.', '/')}`,
  );
  const script = ['ip link set lo up', ...set, 'exec "$@"'].join(' && ');
  const again = [process.execPath, ...process.execArgv, process.argv[1] ?? '', name];
  const child = ownProcess(
    spawn('unshare', ['-rn', 'sh', '-c', script, 'sh', ...again], {
      stdio: 'inherit',
      env: { ...process.env, [INSIDE]: 'yes' },
    }),
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}
