import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The commit that was the last version. Its migrations made the databases that this version takes over. */
const COMMIT = readFileSync(new URL('./former-version', import.meta.url), 'utf8').trim();
const CACHE = join(ROOT, 'node_modules/.cache/former-version');
const BUILT = join(CACHE, COMMIT);
/** Of a build, on a busy machine. */
export const BUILD_TIMEOUT_MS = 600_000;

const run = promisify(execFile);

const git = (folder: string, ...args: string[]) =>
  spawnSync('git', args, { cwd: folder, encoding: 'utf8' });

/** Whether a folder has only a part of the history, as a shallow clone, or none, as an unpacked archive. */
export function lacksHistory(folder: string): boolean {
  const { status, stdout } = git(folder, 'rev-parse', '--is-shallow-repository');
  // The status is null where there is no git.
  return status !== 0 || stdout.trim() !== 'false';
}

/** Whether the last version can be built here. Says so loudly where not; throws where the whole history is there. */
function hasFormerVersion(): boolean {
  if (existsSync(BUILT)) return true;
  if (git(ROOT, 'cat-file', '-e', `${COMMIT}^{commit}`).status === 0) return true;
  const message = `THE COMMIT OF THE LAST VERSION (${COMMIT}) IS NOT IN THIS CLONE`;
  if (!lacksHistory(ROOT)) throw new Error(`${message}: test/upgrade/former-version is wrong`);
  process.stderr.write(
    `\n*** ${message} (git fetch --unshallow): TESTS OF UPGRADES FROM IT DID NOT RUN ***\n`,
  );
  return false;
}

/** `describe`, skipped where the last version cannot be built. */
export const describeUpgrade = hasFormerVersion() ? describe : describe.skip;

/** The folder of the last version, built with the packages of this one. It is built once and kept in `node_modules/.cache`. */
export async function formerVersion(): Promise<string> {
  if (existsSync(BUILT)) return BUILT;
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'building-'));
  try {
    const index = { cwd: ROOT, env: { ...process.env, GIT_INDEX_FILE: join(folder, '.index') } };
    await run('git', ['read-tree', COMMIT], index);
    await run('git', ['checkout-index', '--all', `--prefix=${folder}/`], index);
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    // Its own script needs a compiler that this version does not install.
    const build = [join(ROOT, 'scripts/build.js')];
    await run(process.execPath, build, { cwd: folder, timeout: BUILD_TIMEOUT_MS });
    // Another process may have built it meanwhile.
    await rename(folder, BUILT).catch((error: unknown) => {
      if (!existsSync(BUILT)) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return BUILT;
}
