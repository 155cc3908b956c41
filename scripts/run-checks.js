// `npm run check`: format, lint, types, import rules, dead code and openapi.json. Linting takes longer than all others together, so they
// run beside it. Prints what each of them said when it has ended; exits with 1 if one failed.
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';

const LANES = [['lint'], ['format', 'types', 'deps', 'dead', 'openapi']];

const failed = (await Promise.all(LANES.map(runLane))).flat();
if (failed.length > 0) process.stderr.write(`\nFailed: ${failed.join(', ')}\n`);
process.exitCode = failed.length > 0 ? 1 : 0;

/** Runs checks one after the other; resolves with the names of those that failed. */
async function runLane(names) {
  const failures = [];
  for (const name of names) if (!(await passes(name))) failures.push(name);
  return failures;
}

/** Whether a check passes. It is ended together with this process, because its output would be lost. */
function passes(name) {
  const startedAtMs = performance.now();
  const child = spawn('npm', ['run', '-s', `check:${name}`], { stdio: ['ignore', 'pipe', 'pipe'] });
  const parts = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('error', () => undefined).on('data', (part) => parts.push(part));
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => {
      const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
      process.stderr.write(`\n${code === 0 ? 'passed' : 'FAILED'}: ${name}, ${seconds} s\n`);
      process.stderr.write(Buffer.concat(parts));
      resolve(code === 0);
    });
  });
}
