import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, runProgram, temporaryFolder } from './process.js';
import { send } from './http-answer.js';
import { systemProgram } from './system-program.js';
import { until } from './until.js';

/** The files that operators get. */
const FILES = fileURLToPath(new URL('../../deploy/haproxy/', import.meta.url));
/** The rows of its status that are no servers. */
const SUMS = ['FRONTEND', 'BACKEND'];
/** Its figures, by what they are called here. */
const COUNTERS = {
  'connections tried again': 'wretr',
  'requests sent elsewhere': 'wredis',
  'failed connections': 'econ',
  'broken answers': 'eresp',
} as const;

/** A real HAProxy before gateways, as a file of `deploy/haproxy` sets it up. */
export class Haproxy {
  private constructor(
    readonly url: string,
    private readonly statusUrl: string,
    private readonly servers: number,
  ) {}

  /** Path of the program, where it is installed. */
  static readonly path = systemProgram('haproxy');

  /**
   * Starts one with the file and the URLs of its servers by the names of the file, and waits until all are up. `cleanUp` of the
   * processes ends it.
   */
  static async start(file: string, servers: Readonly<Record<string, string>>): Promise<Haproxy> {
    if (Haproxy.path === undefined) throw new Error('haproxy is not installed');
    const [port, statusPort] = [await freePort(), await freePort()];
    const status = join(await temporaryFolder(), 'status.cfg');
    const lines = [
      'frontend status',
      `bind 127.0.0.1:${statusPort}`,
      'stats enable',
      'stats uri /',
    ];
    await writeFile(status, `${lines.join('\n  ')}\n`);
    const program = runProgram([Haproxy.path, '-db', '-f', join(FILES, file), '-f', status], {
      BIND: `127.0.0.1:${port}`,
      ...Object.fromEntries(
        Object.entries(servers).map(([name, url]) => [name, new URL(url).host]),
      ),
    });
    const proxy = new Haproxy(
      `http://127.0.0.1:${port}`,
      `http://127.0.0.1:${statusPort}/;csv`,
      Object.keys(servers).length,
    );
    await until(async () => {
      if (program.child.exitCode !== null) throw new Error(`haproxy ended: ${program.stderr()}`);
      return proxy.areUp().catch(() => false);
    });
    return proxy;
  }

  /** What it did over all servers by itself: connections tried again or elsewhere, and what it could not do. */
  async sums(): Promise<Readonly<Record<string, number>>> {
    const [names = [], ...rows] = await this.status();
    const whole = rows.find((row) => row[0] === 'gateways' && row[1] === 'BACKEND') ?? [];
    return Object.fromEntries(
      Object.entries(COUNTERS).map(([name, field]) => [name, Number(whole[names.indexOf(field)])]),
    );
  }

  /** Whether it sends calls to every gateway. */
  async areUp(): Promise<boolean> {
    const rows = await this.status();
    // A state such as `UP 1/3` is that of a server whose checks have begun to fail.
    const up = rows.filter((row) => row.includes('UP') && !SUMS.includes(row[1] ?? ''));
    return up.length === this.servers;
  }

  /** Its table of figures; the first row has their names. */
  private async status(): Promise<string[][]> {
    const text = (await send(this.statusUrl)).bytes.toString();
    return text.split('\n').map((row) => row.split(','));
  }
}
