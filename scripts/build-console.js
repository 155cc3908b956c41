import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { CONSOLE_SOURCES, newestMs } from './build-age.js';

const VITE = 'node_modules/vite/bin/vite.js';
const BUILT = 'dist/console/page/index.html';

/** Whether a source of the console is newer than its page. */
function isStale() {
  const built = statSync(BUILT, { throwIfNoEntry: false });
  return (
    built === undefined ||
    built.mtimeMs < Math.max(...CONSOLE_SOURCES.map((path) => newestMs(path)))
  );
}

/**
 * Builds the page of the console where its sources have changed. Resolves with the exit code. Without its sources, or
 * without the package that builds it, there is no page, and the gateway runs without one.
 */
export async function buildConsole() {
  if (!existsSync('console') || !isStale()) return 0;
  if (!existsSync(VITE)) {
    process.stderr.write('Vite is not installed, so the console is not built: run npm ci.\n');
    return 0;
  }
  const vite = spawn(process.execPath, [VITE, 'build', 'console', '--logLevel', 'warn'], {
    stdio: ['ignore', process.stderr, 'inherit'],
  });
  return new Promise((resolve, reject) => {
    vite.once('error', reject);
    vite.once('close', (code) => {
      resolve(code ?? 1);
    });
  });
}
