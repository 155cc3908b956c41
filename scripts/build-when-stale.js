import { spawnSync } from 'node:child_process';
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { newestSourceMs } from './build-age.js';

/** `npm start` builds only when a source is newer than the last build, so that later starts take seconds. */
/** Touched by this script after each build that succeeded. */
const BUILT = 'dist/.built';

const built = statSync(BUILT, { throwIfNoEntry: false });
if (built === undefined || built.mtimeMs <= newestSourceMs('.')) {
  const startedAt = new Date();
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
  if (status === 0) {
    writeFileSync(BUILT, '');
    // A source saved during the build is newer than this.
    utimesSync(BUILT, startedAt, startedAt);
  }
}
