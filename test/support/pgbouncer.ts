import { chmod, chown, stat, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort, temporaryFolder } from './process.js';
import { until } from './until.js';
import { systemProgram } from './system-program.js';

const SESSIONS = 8;

/** A real PgBouncer in transaction mode before the test's PostgreSQL. It refuses the start-up parameters that it does not know. */
export class PgBouncer {
  private constructor(
    private readonly port: number,
    private readonly end: () => Promise<void>,
  ) {}

  /** Path of the program, where it is installed. */
  static readonly program = systemProgram('pgbouncer');

  /** Starts one; `settings` are further lines of its file. */
  static async start(...settings: readonly string[]): Promise<PgBouncer> {
    if (PgBouncer.program === undefined) throw new Error('pgbouncer is not installed');
    const server = new URL(process.env.TEST_SERVER_URL ?? '');
    const folder = server.searchParams.get('host');
    const port = await freePort();
    const home = await temporaryFolder();
    const file = join(home, 'pgbouncer.ini');
    const users = join(home, 'users.txt');
    const text = [
      '[databases]',
      `* = host=${folder ?? server.hostname} port=${server.port || '5432'}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      'max_client_conn = 200',
      `default_pool_size = ${SESSIONS}`,
      ...settings,
    ];
    await writeFile(file, `${text.join('\n')}\n`);
    await writeFile(users, `"${decodeURIComponent(server.username)}" ""\n`);
    // It runs as no root, and only its own user may open the socket of the embedded server.
    const { uid, gid } = folder === null ? { uid: 65_534, gid: 65_534 } : await stat(folder);
    for (const path of [home, file, users]) await chown(path, uid, gid);
    await chmod(home, 0o700);
    const isRoot = process.getuid?.() === 0;
    const child = spawn(PgBouncer.program, ['-q', file], {
      stdio: 'ignore',
      ...(isRoot && { uid, gid }),
    });
    const ended = once(child, 'exit');
    await until(() => {
      if (child.exitCode !== null) throw new Error('pgbouncer ended');
      return listens(port);
    });
    return new PgBouncer(port, async () => {
      child.kill('SIGKILL');
      await ended;
    });
  }

  /** The URL of a database through it. */
  through(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.search = '';
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }

  async stop(): Promise<void> {
    await this.end();
  }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}
