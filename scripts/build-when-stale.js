import { spawnSync } from 'node:child_process';
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { newestSourceMs } from './build-age.js';

/** Touched after each build that succeeded. */
const BUILT = 'dist/.built';

/**
 * Builds when a source is newer than the last build, or there is none, in the present folder, which is the root of the
 * project. Answers the exit code of the build, 0 where none is needed.
 */
export function buildWhenStale() {
  const built = statSync(BUILT, { throwIfNoEntry: false });
  if (built !== undefined && built.mtimeMs > newestSourceMs('.')) return 0;
  const startedAt = new Date();
  const why = built === undefined ? 'There is no build yet' : 'A source has changed';
  process.stderr.write(`${why}: building. This takes 5 to 30 seconds.\n`);
  const { status } = spawnSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' });
  if (status !== 0) return status ?? 1;
  writeFileSync(BUILT, '');
  // A source saved during the build is newer than this.
  utimesSync(BUILT, startedAt, startedAt);
  return 0;
}
