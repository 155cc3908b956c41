import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

const said = new Set<string>();

/**
 * Path of a program of the system, such as `ffprobe`, `redis-server` or `chromium`; undefined if it is not installed. A
 * name may be an absolute path. Then it prints a message once, so that skipped tests are noticed. Throws if `REQUIRE_SYSTEM_PROGRAMS` is 1.
 */
export function systemProgram(...names: readonly [string, ...string[]]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const path = names
    .flatMap((name) => (isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name))))
    .find(isExecutable);
  if (path !== undefined) return path;
  const message = `${names.join(' or ')} IS NOT INSTALLED`;
  if (process.env.REQUIRE_SYSTEM_PROGRAMS === '1') throw new Error(message);
  if (!said.has(message))
    process.stderr.write(`\n*** ${message}: TESTS THAT NEED IT DID NOT RUN ***\n`);
  said.add(message);
  return undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
