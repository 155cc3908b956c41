import { readdirSync, statSync } from 'node:fs';

/** The sources of the console's page; its pictures in `console/shots` are none. */
export const CONSOLE_SOURCES = [
  'console/src',
  'console/index.html',
  'console/icon.svg',
  'console/vite.config.js',
  'console/tsconfig.json',
  'package-lock.json',
];
/** The sources of a build. */
const SOURCES = [
  'src',
  ...CONSOLE_SOURCES,
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'nest-cli.json',
];

/** When the newest file of a folder was written; for a file, when it was written. */
export function newestMs(path) {
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(found.mtimeMs, ...readdirSync(path).map((name) => newestMs(`${path}/${name}`)));
}

/** When the newest source was written, below the root of the project. */
export function newestSourceMs(root) {
  return Math.max(...SOURCES.map((name) => newestMs(`${root}/${name}`)));
}
