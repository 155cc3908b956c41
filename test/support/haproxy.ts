import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, runProgram, temporaryFolder } from './process.js';
import { send } from './http-answer.js';
import { systemProgram } from './system-program.js';
import { until } from './until.js';

/** The file that operators get. */
const CONFIGURATION = fileURLToPath(new URL('../../deploy/haproxy/gateways.cfg', import.meta.url));
const GATEWAYS = 2;

/** A real HAProxy before two gateways, as `deploy/haproxy/gateways.cfg` sets it up. */
export class Haproxy {
  private constructor(
    readonly url: string,
    private readonly statusUrl: string,
  ) {}

  /** Path of the program, where it is installed. */
  static readonly path = systemProgram('haproxy');

  /** Starts one before two servers and waits until both are up. `cleanUp` of the processes ends it. */
  static async start(first: string, second: string): Promise<Haproxy> {
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
    const program = runProgram([Haproxy.path, '-db', '-f', CONFIGURATION, '-f', status], {
      BIND: `127.0.0.1:${port}`,
      FIRST: new URL(first).host,
      SECOND: new URL(second).host,
    });
    const proxy = new Haproxy(`http://127.0.0.1:${port}`, `http://127.0.0.1:${statusPort}/;csv`);
    await until(async () => {
      if (program.child.exitCode !== null) throw new Error(`haproxy ended: ${program.stderr()}`);
      return proxy.areUp().catch(() => false);
    });
    return proxy;
  }

  /** Whether it sends calls to every gateway. */
  async areUp(): Promise<boolean> {
    const rows = (await send(this.statusUrl)).bytes.toString().split('\n');
    const servers = rows.filter((row) => /^gateways,(first|second),/.test(row));
    // A state such as `UP 1/3` is that of a server whose checks have begun to fail.
    return servers.filter((row) => row.split(',').includes('UP')).length === GATEWAYS;
  }
}
