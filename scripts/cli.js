#!/usr/bin/env node
// Runs the operator commands of the build; says so where there is none, and where the sources are newer.
import './require-node.js';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { newestMs, newestSourceMs } from './build-age.js';
import { keepCompiled } from './keep-compiled.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const cli = new URL('../dist/cli.js', import.meta.url);
if (existsSync(cli)) {
  if (newestMs(`${root}/dist`) < newestSourceMs(root)) {
    process.stderr.write('The sources are newer than the build. Run npm run build to use them.\n');
  }
  keepCompiled();
  await import(cli.href);
} else {
  process.stderr.write('There is no build yet. Run npm run build, then the command again.\n');
  process.exitCode = 1;
}
