import { spawnSync } from 'node:child_process';
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';

/** `npm start` builds only when a source is newer than the last build, so that later starts take seconds. */
const SOURCES = [
  'src',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'nest-cli.json',
];
/** Touched by this script after each build that succeeded. */
const BUILT = 'dist/.built';

function newestMs(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => newestMs(`${path}/${name}`)));
}

const built = statSync(BUILT, { throwIfNoEntry: false });
if (built === undefined || built.mtimeMs <= Math.max(...SOURCES.map(newestMs))) {
  const startedAt = new Date();
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
  if (status === 0) {
    writeFileSync(BUILT, '');
    // A source saved during the build is newer than this.
    utimesSync(BUILT, startedAt, startedAt);
  }
}
