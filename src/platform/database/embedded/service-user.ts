import { execFile, spawn, type ChildProcessByStdio } from 'node:child_process';
import { lchown, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { PRIVATE_FOLDER_MODE } from '../../../common/private-files.js';

const NOBODY_ID = 65_534;
const PROGRAM_TIMEOUT_MS = 60_000;
const AS_MAPPED_USER = [
  'unshare',
  '--user',
  `--map-user=${NOBODY_ID}`,
  `--map-group=${NOBODY_ID}`,
  '--',
];
const DIES_WITH_PARENT = ['setpriv', '--pdeathsig', 'INT', '--'];
const STAYS: readonly string[] = [];
/**
 * The only variables that PostgreSQL gets. The gateway's environment holds secrets. By default glibc gives memory above 128 kB
 * back after each statement, and a statement that holds and settles many calls takes all of it from the kernel again.
 */
const ENVIRONMENT = {
  LC_ALL: 'C',
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  MALLOC_TRIM_THRESHOLD_: '1048576',
  MALLOC_MMAP_THRESHOLD_: '1048576',
};

interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The operating-system user that runs PostgreSQL. PostgreSQL refuses to run as root, and `initdb` refuses a user id
 * without a name. So it is this process's user, `nobody`, or this process's user under a mapped name (user namespace).
 * Where the system can (`setpriv`), programs get SIGINT when the gateway dies for any reason.
 */
export class ServiceUser {
  private constructor(
    private readonly prefix: readonly string[],
    private readonly identity?: Identity,
  ) {}

  /**
   * Chooses the user for an existing data directory and makes `<dataDir>/postgres` accessible to it. Throws, with
   * advice, when no way works.
   */
  static async for(dataDir: string): Promise<ServiceUser> {
    const watch = (await diesWithParent()) ? DIES_WITH_PARENT : STAYS;
    const mapped = new ServiceUser([...AS_MAPPED_USER, ...watch]);
    if (process.getuid?.() !== 0) {
      if (hasName()) return new ServiceUser(watch);
      if (await mapped.can('test', ['-w', dataDir])) return mapped;
      throw new Error(
        `The embedded PostgreSQL cannot run as user id ${process.getuid?.() ?? '?'}, which has no name in /etc/passwd. ` +
          'Set DATABASE_URL, or run as a named user.',
      );
    }
    const nobody = new ServiceUser(watch, await nobodyIdentity());
    if (await nobody.can('test', ['-x', dataDir])) return nobody;
    if (await mapped.can('test', ['-w', dataDir])) return mapped;
    throw new Error(
      `The embedded PostgreSQL runs as user "nobody", which cannot enter ${dataDir}. Set DATA_DIR to a ` +
        'directory below ones that everybody may enter (chmod a+x), set DATABASE_URL, or run as an ordinary user.',
    );
  }

  /** Whether this user can run the program with exit code 0. */
  async can(program: string, args: readonly string[]): Promise<boolean> {
    return this.run(program, args).then(
      () => true,
      () => false,
    );
  }

  /** Runs a program to its end. If it fails, throws with its last output. */
  async run(program: string, args: readonly string[]): Promise<void> {
    const [file = program, ...rest] = [...this.prefix, program, ...args];
    await promisify(execFile)(file, rest, { ...this.spawnOptions(), timeout: PROGRAM_TIMEOUT_MS });
  }

  /**
   * Starts a long-running program in its own process group, so that Ctrl-C in the gateway's terminal does not reach it.
   * Its standard error is piped.
   */
  start(program: string, args: readonly string[]): ChildProcessByStdio<null, null, Readable> {
    const [file = program, ...rest] = [...this.prefix, program, ...args];
    const child = spawn(file, rest, {
      ...this.spawnOptions(),
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // The caller gets the error of a failed start. Later errors concern signals to a program that has ended.
    return child.on('error', () => undefined);
  }

  /** Creates a 0700 directory of this user, or changes the owner of an existing tree. */
  async own(directory: string): Promise<void> {
    await mkdir(directory, { recursive: true, mode: PRIVATE_FOLDER_MODE });
    const owner = this.identity ?? { uid: process.getuid?.(), gid: process.getgid?.() };
    if (owner.uid === undefined || owner.gid === undefined) return;
    if ((await stat(directory)).uid === owner.uid) return;
    const below = await readdir(directory, { recursive: true });
    for (const path of below) await lchown(join(directory, path), owner.uid, owner.gid);
    // Last, because the owner of the top directory shows whether the tree is done.
    await lchown(directory, owner.uid, owner.gid);
  }

  private spawnOptions(): { env: NodeJS.ProcessEnv; cwd: string; uid?: number; gid?: number } {
    return { env: ENVIRONMENT, cwd: '/', ...this.identity };
  }
}

async function diesWithParent(): Promise<boolean> {
  return promisify(execFile)('setpriv', ['--pdeathsig', 'INT', '--', 'true']).then(
    () => true,
    () => false,
  );
}

function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

async function nobodyIdentity(): Promise<Identity> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const [, , uid, gid] = (/^nobody:.*$/m.exec(passwd)?.[0] ?? '').split(':');
  return { uid: Number(uid ?? NOBODY_ID), gid: Number(gid ?? NOBODY_ID) };
}
