import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { shippedNode } from '../bench/servers/runtime.js';

/**
 * Tests that start processes, that speak as clients and to providers, and of Node's own HTTP: where a runtime shows. `npm run test:all`
 * runs them here only, and `test:present` leaves them out.
 */
const FOLDERS = ['test/process', 'test/compat', 'test/contract', 'src/platform/http-server'];

// `npm run test:shipped -- <path>` runs other tests on the runtime of the image.
const given = process.argv.slice(2);
const node = await shippedNode();
const { status } = spawnSync(
  node,
  ['scripts/run-tests.js', '--maxWorkers=3', ...(given.length > 0 ? given : FOLDERS)],
  {
    stdio: 'inherit',
    // Programs that the tests start by the name of `node` run on it too.
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` },
  },
);
process.exitCode = status ?? 1;
