// Runs the operator commands of the build; says so where there is none.
import { existsSync } from 'node:fs';

const cli = new URL('../dist/cli.js', import.meta.url);
if (existsSync(cli)) {
  await import(cli.href);
} else {
  process.stderr.write('There is no build yet. Run npm run build, then the command again.\n');
  process.exitCode = 1;
}
