import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { chmod, lstat, mkdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { stopOrphans } from './orphan-processes.js';
import {
  copyPostgres,
  installedPostgres,
  linkLibraries,
  copyDirectoryOf,
} from './postgres-binaries.js';
import type { PostmasterCommand } from './postmaster.js';
import { ServiceUser } from './service-user.js';
import { PRIVATE_FOLDER_MODE } from '../../../common/private-files.js';

const SUPERUSER = 'shim';
const PORT = 5432;
/** `sun_path` holds 107 bytes; the server appends `/.s.PGSQL.5432.lock` to the directory. */
const SOCKET_DIRECTORY_MAX_BYTES = 107 - '/.s.PGSQL.5432.lock'.length;
/** Not the temporary directory of the environment, because gateway and operator commands need the same one. */
const SHORT_PARENT = '/tmp';
const HASH_LENGTH = 16;
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  port: String(PORT),
  unix_socket_permissions: '0700',
  max_connections: '60',
  // The pages that calls of a few thousand accounts write do not fit into 64 MB (docs/notes/benchmarks.md, "Ledger").
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  // Failed statements are reported by their callers, and their text may hold what must not be logged.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
};

/** The paths of a cluster. All processes with the same data directory compute the same paths. */
export class ClusterPaths {
  private constructor(
    /** The data directory without symbolic links. */
    readonly dataDir: string,
    /** PostgreSQL's own directory below it. */
    readonly cluster: string,
    readonly socketDirectory: string,
  ) {}

  /** Determines the paths, and creates the data directory. */
  static async in(dataDir: string): Promise<ClusterPaths> {
    await mkdir(dataDir, { recursive: true });
    const real = await realpath(dataDir);
    const cluster = join(real, 'postgres');
    const hash = createHash('sha256').update(real).digest('hex').slice(0, HASH_LENGTH);
    const fits = Buffer.byteLength(cluster) <= SOCKET_DIRECTORY_MAX_BYTES;
    const socketDirectory = fits ? cluster : join(SHORT_PARENT, `shim-postgres-${hash}`);
    return new ClusterPaths(real, cluster, socketDirectory);
  }

  /** Connection URL over the Unix socket. */
  get url(): string {
    const host = encodeURIComponent(this.socketDirectory);
    return `postgresql://${SUPERUSER}@localhost:${PORT}/postgres?host=${host}`;
  }

  /** Whether a server listens. */
  async isListening(): Promise<boolean> {
    const socket = connect(join(this.socketDirectory, `.s.PGSQL.${PORT}`));
    socket.on('error', () => undefined);
    return once(socket, 'connect')
      .then(
        () => true,
        () => false,
      )
      .finally(() => socket.destroy());
  }
}

/**
 * Prepares a cluster for its server: stops what a killed gateway left, and creates the cluster on first use (UTF-8,
 * `C.UTF-8`, no password on its private socket, no TCP). Needs the lock of the data directory. Returns the command of
 * the server.
 */
export async function prepareCluster(
  paths: ClusterPaths,
  settings: Readonly<Record<string, string>>,
  onLog: (line: string) => void,
): Promise<PostmasterCommand> {
  await stopOrphans(paths.cluster);
  const user = await ServiceUser.for(paths.dataDir);
  const programs = join(await readablePrograms(user, paths.dataDir), 'bin');
  if (await exists(paths.cluster)) await user.own(paths.cluster);
  else await createCluster(paths, user, join(programs, 'initdb'));
  await prepareSocketDirectory(paths, user);
  const all = { ...SETTINGS, unix_socket_directories: paths.socketDirectory, ...settings };
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return {
    program: join(programs, 'postgres'),
    args: ['-D', paths.cluster, ...args],
    user,
    onLog,
  };
}

/** The installed programs if this user can run them, else a copy below the data directory. */
async function readablePrograms(user: ServiceUser, dataDir: string): Promise<string> {
  const installed = installedPostgres();
  const runs = (native: string): Promise<boolean> =>
    user.can(join(native, 'bin', 'postgres'), ['--version']);
  // Dependencies that are read-only cannot be linked in place, but their copy can.
  await linkLibraries(installed).catch(() => undefined);
  if (await runs(installed)) return installed;
  const copy = await copyDirectoryOf(installed, dataDir);
  if (await runs(copy)) return copy;
  await copyPostgres(installed, copy);
  await user.run(join(copy, 'bin', 'postgres'), ['--version']);
  return copy;
}

async function createCluster(
  paths: ClusterPaths,
  user: ServiceUser,
  initdb: string,
): Promise<void> {
  const unfinished = `${paths.cluster}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await user.own(unfinished);
  await user.run(initdb, [
    ...['-D', unfinished, '--username', SUPERUSER, '--encoding', 'UTF8', '--locale', 'C'],
    ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
    ...['--auth-local', 'trust', '--auth-host', 'reject'],
  ]);
  await rename(unfinished, paths.cluster);
}

async function prepareSocketDirectory(paths: ClusterPaths, user: ServiceUser): Promise<void> {
  if (paths.socketDirectory === paths.cluster) return;
  await user.own(paths.socketDirectory);
  const found = await lstat(paths.socketDirectory);
  const expected = await stat(paths.cluster);
  if (!found.isDirectory() || found.uid !== expected.uid) {
    throw new Error(`${paths.socketDirectory} belongs to somebody else; set a shorter DATA_DIR`);
  }
  await chmod(paths.socketDirectory, PRIVATE_FOLDER_MODE);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
