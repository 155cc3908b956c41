import { afterAll, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  cleanUp,
  PROCESS_TEST_TIMEOUT_MS,
  runProgram,
  temporaryFolder,
} from '../support/process.js';
import { until } from '../support/until.js';

afterAll(cleanUp, PROCESS_TEST_TIMEOUT_MS);

const OWNED = new URL('../../bench/servers/owned-processes.ts', import.meta.url).href;

/** A benchmark that starts a server which nothing else would end, and then fails or waits. */
const benchmark = (afterwards: string) => `
import { spawn } from 'node:child_process';
import { endOnSignals, endOwnProcesses, ownProcess } from ${JSON.stringify(OWNED)};
endOnSignals();
const server = ownProcess(spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']));
console.log(\`server \${server.pid};\`);
${afterwards}`;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it.each([
  ['fails', 'await endOwnProcesses(); throw new Error("failed");', undefined],
  ['is ended by a signal', '', 'SIGTERM' as const],
])(
  'a benchmark that %s leaves no server behind',
  async (_how, afterwards, signal) => {
    const file = join(await temporaryFolder(), 'benchmark.mjs');
    await writeFile(file, benchmark(afterwards));
    const loader = ['--import', '@swc-node/register/esm-register'];
    const program = runProgram([process.execPath, ...loader, pathToFileURL(file).pathname]);
    await until(() => program.stdout().includes(';'));
    const pid = Number(/server (\d+);/.exec(program.stdout())?.[1]);
    const { code } = await (signal ? program.end(signal) : program.exited);
    expect(code).toBe(1);
    expect(isRunning(pid)).toBe(false);
  },
  PROCESS_TEST_TIMEOUT_MS,
);
