import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The name of the variable with the folder of a run. It goes to the Jest workers. */
const RUN = 'TEST_FOLDERS';
/** So that the path of a socket in it stays short enough. */
const NAME_LENGTH = 8;

/** Makes the folder of a run, in which each test file has its temporary folder; a second call of the same run does nothing. */
export function openRunFolder() {
  process.env[RUN] ??= openTo(join(tmpdir(), 'shim-tests-'));
}

/** Removes the folder of a run. Throws if the folder of a test file is left, because its worker ended before it. */
export function closeRunFolder() {
  const folder = process.env[RUN];
  if (folder === undefined) return;
  Reflect.deleteProperty(process.env, RUN);
  const left = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  remove(folder);
  if (left.length > 0) throw new Error(`test files left temporary folders: ${left.join(', ')}`);
}

/** Makes the temporary folder of a test file; answers its path. Other users may get in, such as that of PostgreSQL. */
export function openFileFolder(testPath) {
  const name = testPath.split('/').at(-1).slice(0, NAME_LENGTH);
  return openTo(join(process.env[RUN] ?? tmpdir(), `${name}-`));
}

/** Removes it with everything in it. */
export function remove(folder) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function openTo(prefix) {
  const folder = mkdtempSync(prefix);
  chmodSync(folder, 0o755);
  return folder;
}
