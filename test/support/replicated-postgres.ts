import { readdirSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { ServiceUser } from '../../src/platform/database/embedded/service-user.js';
import { freePort } from './process.js';
import { until } from './until.js';

/** Where Debian keeps its servers, each version in a folder of its own. */
const DEBIAN = '/usr/lib/postgresql';
const START_MS = 60_000;
const CONNECT_MS = 2_000;

interface Home {
  readonly user: ServiceUser;
  readonly folder: string;
  readonly cluster: string;
}
type Settings = Readonly<Record<string, string>>;

/** A PostgreSQL of the system on a TCP port of loopback: one that takes writes, or a standby that follows another one. */
export class ReplicatedPostgres {
  private child: ReturnType<ServiceUser['start']> | undefined;

  private constructor(
    readonly port: number,
    private readonly home: Home,
    private readonly settings: Settings,
  ) {}

  /** The folder of its programs, where it is installed. */
  static readonly programs = debianFolder();

  /** Starts a server that takes writes, on an empty cluster of its own below `parent`. */
  static async start(settings: Settings = {}, parent = tmpdir()): Promise<ReplicatedPostgres> {
    const home = await newHome(parent);
    const initdb = program('initdb');
    await home.user.run(initdb, ['-D', home.cluster, '-U', 'shim', '-A', 'trust', '-N']);
    return ReplicatedPostgres.run(home, settings);
  }

  /** Copies this server and starts the copy, which follows it; at the port of one that is gone, if one is given. */
  async standby(port?: number): Promise<ReplicatedPostgres> {
    const home = await newHome(tmpdir());
    const from = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'shim'];
    const how = ['-D', home.cluster, '-R', '-X', 'stream', '-c', 'fast', '-N'];
    await home.user.run(program('pg_basebackup'), [...from, ...how]);
    return ReplicatedPostgres.run(home, this.settings, port);
  }

  private static async run(
    home: Home,
    settings: Settings,
    port?: number,
  ): Promise<ReplicatedPostgres> {
    const server = new ReplicatedPostgres(port ?? (await freePort()), home, settings);
    await server.startAgain();
    return server;
  }

  /** Starts the server on its data, after {@link stop} or a kill. */
  async startAgain(): Promise<void> {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(this.port),
      unix_socket_directories: this.home.cluster,
      max_connections: '200',
      ...this.settings,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const { user, cluster } = this.home;
    const child = user.start(program('postgres'), ['-D', cluster, ...args]);
    this.child = child;
    let words = '';
    child.stderr.on(
      'data',
      (chunk: Buffer) => (words = `${words}${chunk.toString()}`.slice(-2_000)),
    );
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended: ${words}`);
      return this.query('SELECT 1').then(
        () => true,
        () => false,
      );
    }, START_MS);
  }

  /** Whether its process has ended. */
  get hasEnded(): boolean {
    return this.child?.exitCode !== null || this.child.signalCode !== null;
  }

  /** The URL of a database of this server. */
  url(database = 'postgres'): string {
    return `postgresql://shim@127.0.0.1:${this.port}/${database}`;
  }

  /** The rows of one statement. */
  async query<T extends object>(statement: string, database = 'postgres'): Promise<T[]> {
    const client = new pg.Client({
      connectionString: this.url(database),
      connectionTimeoutMillis: CONNECT_MS,
      // Also where the server's default is that nobody writes.
      options: '-c default_transaction_read_only=off',
    });
    client.on('error', () => undefined);
    await client.connect();
    return client
      .query<T>(statement)
      .then(({ rows }) => rows)
      .finally(() => void client.end().catch(() => undefined));
  }

  /** Makes a standby take writes. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote(true, 30)');
  }

  /** Sends a signal to all processes of the server: a crash (`SIGKILL`), a hang (`SIGSTOP`), and its end (`SIGCONT`). */
  async signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const { pid } = this.child ?? {};
    if (pid === undefined) return;
    const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    for (const each of [pid, ...list.split(' ').filter(Boolean).map(Number)]) {
      try {
        process.kill(each, signal);
      } catch {
        // It has ended meanwhile.
      }
    }
    if (signal === 'SIGKILL') await this.ended();
  }

  /** Ends it as an operator does: open transactions are rolled back, a standby gets the rest of the log. */
  async stop(): Promise<void> {
    this.child?.kill('SIGINT');
    await this.ended();
  }

  /** Kills it and removes its data. */
  async remove(): Promise<void> {
    await this.signal('SIGKILL');
    await rm(this.home.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  private async ended(): Promise<void> {
    const { child } = this;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    await once(child, 'exit');
  }
}

async function newHome(parent: string): Promise<Home> {
  const folder = await mkdtemp(join(parent, 'shim-replicated-'));
  // As root, the server runs as a user that has to get in.
  await chmod(folder, 0o755);
  const user = await ServiceUser.for(folder);
  const cluster = join(folder, 'postgres');
  await user.own(cluster);
  return { user, folder, cluster };
}

function program(name: string): string {
  if (ReplicatedPostgres.programs === undefined) throw new Error('no PostgreSQL is installed');
  return join(ReplicatedPostgres.programs, name);
}

/** Of the newest version. */
function debianFolder(): string | undefined {
  try {
    const [newest] = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a));
    return newest === undefined ? undefined : join(DEBIAN, newest, 'bin');
  } catch {
    return undefined;
  }
}
