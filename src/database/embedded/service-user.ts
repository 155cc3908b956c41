import { execFile, spawn, type ChildProcessByStdio } from 'node:child_process';
import { lchown, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

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
/** Nothing of the gateway's environment, its secrets above all, is handed to PostgreSQL. */
const ENVIRONMENT = { LC_ALL: 'C', PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin' };

interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The operating-system user PostgreSQL runs as, since it refuses to run as root and `initdb` refuses a
 * user id without a name: ourselves, `nobody`, or ourselves under a mapped name (user namespace).
 * Where the system can (`setpriv`), what it runs gets SIGINT when the gateway dies by whatever cause.
 */
export class ServiceUser {
  private constructor(
    private readonly prefix: readonly string[],
    private readonly identity?: Identity,
  ) {}

  /**
   * Chooses the user for a data directory (which exists) and makes `<dataDir>/postgres` reachable for it.
   * Throws, saying what to change, when no way works.
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

  /** Whether the program runs and exits with 0 as this user. */
  async can(program: string, args: readonly string[]): Promise<boolean> {
    return this.run(program, args).then(
      () => true,
      () => false,
    );
  }

  /** Runs a program to its end; throws with its last words when it fails. */
  async run(program: string, args: readonly string[]): Promise<void> {
    const [file = program, ...rest] = [...this.prefix, program, ...args];
    await promisify(execFile)(file, rest, { ...this.spawnOptions(), timeout: PROGRAM_TIMEOUT_MS });
  }

  /**
   * Starts a long-running program in a process group of its own, so that Ctrl-C on the gateway does not
   * reach it. Its standard error is piped.
   */
  start(program: string, args: readonly string[]): ChildProcessByStdio<null, null, Readable> {
    const [file = program, ...rest] = [...this.prefix, program, ...args];
    return spawn(file, rest, {
      ...this.spawnOptions(),
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  }

  /** Creates a 0700 directory of this user, or makes an existing tree its own. */
  async own(directory: string): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const owner = this.identity ?? { uid: process.getuid?.(), gid: process.getgid?.() };
    if (owner.uid === undefined || owner.gid === undefined) return;
    if ((await stat(directory)).uid === owner.uid) return;
    const below = await readdir(directory, { recursive: true });
    for (const path of below) await lchown(join(directory, path), owner.uid, owner.gid);
    // Last, because its owner tells whether the tree is done.
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
