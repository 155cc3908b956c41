import { readdirSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { chmod } from 'node:fs/promises';
import { Postmaster } from '../../src/platform/database/embedded/postmaster.js';
import { ServiceUser } from '../../src/platform/database/embedded/service-user.js';
import { systemProgram } from './system-program.js';

/** Where Debian keeps its servers, each version in a folder of its own. */
const DEBIAN = '/usr/lib/postgresql';
const PORT = 5432;

/**
 * A PostgreSQL of the system with the settings that it has by itself, on an empty cluster of its own. It listens on a Unix
 * socket only.
 */
export class StockPostgres {
  private constructor(
    /** Connection URL of its superuser. */
    readonly url: string,
    private readonly postmaster: Postmaster,
    private readonly folder: string,
  ) {}

  /** Path of the server's program, where one is installed. */
  static readonly program = systemProgram('postgres', ...debianPrograms());

  static async start(): Promise<StockPostgres> {
    const { program } = StockPostgres;
    if (program === undefined) throw new Error('no PostgreSQL is installed');
    const folder = await mkdtemp(join(tmpdir(), 'shim-stock-'));
    // As root, the server runs as a user that has to get in.
    await chmod(folder, 0o755);
    const cluster = join(folder, 'postgres');
    const user = await ServiceUser.for(folder);
    await user.own(cluster);
    const initdb = join(dirname(await realpath(program)), 'initdb');
    await user.run(initdb, ['-D', cluster, '--username', 'shim', '--auth', 'trust']);
    const args = ['-D', cluster, '-k', cluster, '-p', String(PORT), '-c', 'listen_addresses='];
    const postmaster = await Postmaster.start({ program, args, user, onLog: () => undefined });
    const url = `postgresql://shim@localhost:${PORT}/postgres?host=${encodeURIComponent(cluster)}`;
    return new StockPostgres(url, postmaster, folder);
  }

  async stop(): Promise<void> {
    await this.postmaster.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Newest first. */
function debianPrograms(): string[] {
  try {
    const versions = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a));
    return versions.map((version) => join(DEBIAN, version, 'bin', 'postgres'));
  } catch {
    return [];
  }
}
