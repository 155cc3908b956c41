// `npm start`: builds only when a source is newer than the last build, so that later starts take seconds, and starts the gateway.
import { spawnSync } from 'node:child_process';
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { newestSourceMs } from './build-age.js';
import { keepCompiled } from './keep-compiled.js';

/** Touched by this script after each build that succeeded. */
const BUILT = 'dist/.built';

/** Answers the exit code of the build, 0 where none is needed. */
function buildWhenStale() {
  const built = statSync(BUILT, { throwIfNoEntry: false });
  if (built !== undefined && built.mtimeMs > newestSourceMs('.')) return 0;
  const startedAt = new Date();
  const why = built === undefined ? 'There is no build yet' : 'A source has changed';
  process.stderr.write(`${why}: building. This takes about half a minute.\n`);
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  if (status !== 0) return status ?? 1;
  writeFileSync(BUILT, '');
  // A source saved during the build is newer than this.
  utimesSync(BUILT, startedAt, startedAt);
  return 0;
}

const code = buildWhenStale();
if (code === 0) {
  keepCompiled();
  await import('../dist/main.js');
} else {
  process.exitCode = code;
}
