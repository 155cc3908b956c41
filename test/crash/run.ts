import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { countOption } from '../support/long-run.js';

/**
 * `npm run test:crash`: kills of processes under load, for the ledger. `npm run test:crash -- tasks`: the faults of tasks as
 * in the suite, but with more kills, a database that is gone for longer than a lease, claims that end in their time, and more
 * random happenings.
 */
const LONGER = {
  KILLS: '20',
  OUTAGE_MS: '35000',
  MODEL_RUNS: '200',
  EDGES: 'all',
  LEASES: 'real',
};
/** Those of them that are numbers. The tests read them as they are, and with another word they would kill nothing. */
const NUMBERS = ['KILLS', 'OUTAGE_MS', 'MODEL_RUNS'] as const;
const FAULTS_OF_TASKS = [
  'test/process/(tasks|webhooks|events|video|file|source|edges)-crash',
  'test/faults/(tasks|dubbing|songs|videos)',
  'test/tasks/task-(model|edges)',
];

if (process.argv[2] === 'tasks') process.exitCode = runTests();
else await import('./crash.js');

function runTests(): number {
  for (const name of NUMBERS) countOption(name, process.env[name] ?? LONGER[name]);
  const jest = ['run', 'jest', '--', '--verbose', '--testTimeout=600000', ...FAULTS_OF_TASKS];
  const { status } = spawnSync('npm', jest, {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    env: { ...LONGER, ...process.env },
    stdio: 'inherit',
  });
  return status ?? 1;
}
