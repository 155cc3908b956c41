// Runs Jest with the arguments given. Test files that failed are run once more, alone, to tell those that fail always from those that
// failed once. Both fail the command, but for a file of test/FLAKY.md that failed once. CONTRIBUTING.md says why.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { fileURLToPath } from 'node:url';
import { readFlaky } from './flaky-tests.js';

/** If more files than this fail, they are not run again, because so many do not fail by accident. */
const MAX_FILES_RUN_AGAIN = 5;
/** How long one run of Jest may take, so that a test that never ends does not hold the machine for ever. */
const DEADLINE_MINUTES = Number(process.env.TEST_DEADLINE_MINUTES ?? 75);

const pathOf = (path) => fileURLToPath(new URL(path, import.meta.url));
const FLAGS = ['--experimental-vm-modules', '--no-warnings'];
const JEST = pathOf('../node_modules/jest/bin/jest.js');
const REPORTERS = ['--reporters=default', `--reporters=${pathOf('test-report.js')}`];

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Below the folder in which the command runs. */
const FLAKY = 'test/FLAKY.md';
const ONCE = 'failed, and passed when run once more, alone (the failure is above)';

const say = (...lines) => process.stderr.write(`\n${lines.join('\n')}\n`);

/** One run of Jest in a process group of its own: whether it passed, whether it was killed, and what `test-report.js` noted. */
async function runJest(args) {
  const folder = mkdtempSync(join(tmpdir(), 'shim-report-'));
  const path = join(folder, 'report.json');
  try {
    const child = spawn(process.execPath, [...FLAGS, JEST, ...args, ...REPORTERS], {
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
      env: { ...process.env, TEST_REPORT: path },
    });
    const { code, killed } = await endOf(child);
    const report = readReport(path);
    // A test that calls process.exit(0) ends Jest with success before the rest has run.
    const isComplete = report.complete === true || args.includes('--listTests');
    return { passed: code === 0 && isComplete, killed, ...report };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits for the end of Jest; at the deadline its whole group is killed, and signals to this process are passed on to it. */
function endOf(child) {
  return new Promise((resolve, reject) => {
    let killed = false;
    const signalGroup = (signal) => {
      try {
        process.kill(-child.pid, signal);
      } catch {
        // The group has ended.
      }
    };
    const timer = setTimeout(() => {
      killed = true;
      signalGroup('SIGKILL');
    }, DEADLINE_MINUTES * 60_000);
    for (const signal of SIGNALS) process.on(signal, signalGroup);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      for (const signal of SIGNALS) process.off(signal, signalGroup);
      resolve({ code, killed });
    });
  });
}

/** Undefined if Jest did not reach its first test file. */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { running: [], failed: [] };
  }
}

const listed = (files) =>
  files.flatMap(({ file, tests }) => [`  ${file}`, ...tests.map((test) => `    ● ${test}`)]);

/** Why the failure of a run is final; undefined where the failed files may be run again. */
function finality({ killed, running, failed, complete }) {
  if (!complete) {
    const reason = killed
      ? `Jest did not end within ${DEADLINE_MINUTES} minutes and was killed.`
      : 'Jest ended before every test file had run.';
    return [reason, 'Not finished:', ...running.map((file) => `  ${file}`)];
  }
  if (killed) return ['Jest ran every test file, but did not end and was killed.'];
  const broken = failed.filter((file) => file.broken);
  if (broken.length > 0) return ['Could not be loaded, or crashed:', ...listed(broken)];
  if (failed.length === 0) return ['Jest failed, though no test did.'];
  if (failed.length > MAX_FILES_RUN_AGAIN) {
    return [`More than ${MAX_FILES_RUN_AGAIN} test files failed; none is run again.`];
  }
  return undefined;
}

/** Runs the failed files once more, one after the other on a machine that has nothing else to do; true where none but the known flaky had failed. */
async function passAlone(failed, flaky) {
  const files = failed.map(({ file }) => file);
  say('Failed, now run once more, alone:', ...files.map((file) => `  ${file}`), '');
  const again = await runJest(['--runInBand', '--runTestsByPath', ...files]);
  if (!again.complete) {
    say(...finality(again));
    return false;
  }
  const once = failed.filter(({ file }) => !again.failed.some((other) => other.file === file));
  const known = once.filter(({ file }) => flaky.has(file));
  const unknown = once.filter(({ file }) => !flaky.has(file));
  if (known.length > 0) say(`WARNING: ${ONCE}, as ${FLAKY} says:`, ...listed(known));
  if (unknown.length > 0) say(`${ONCE}, and ${FLAKY} does not name it:`, ...listed(unknown));
  if (again.failed.length > 0) say('Failed twice:', ...listed(again.failed));
  return again.passed && unknown.length === 0;
}

const { files: flaky, faults } = readFlaky(FLAKY, Date.now());
if (faults.length > 0) {
  say(`${FLAKY} has rows that must go:`, ...faults.map((fault) => `  ${fault}`));
  process.exit(1);
}
const first = await runJest(process.argv.slice(2));
const final = first.passed ? undefined : finality(first);
if (final) say(...final);
const passed = first.passed || (final === undefined && (await passAlone(first.failed, flaky)));
process.exitCode = passed ? 0 : 1;
