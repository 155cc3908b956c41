import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import {
  cleanUp,
  processesIn,
  PROCESS_TEST_TIMEOUT_MS,
  type Program,
  runProgram,
  statusOf,
  temporaryFolder,
} from '../../support/process.js';
import { until } from '../../support/until.js';

afterAll(cleanUp, PROCESS_TEST_TIMEOUT_MS);

const FUZZ = 'test/faults/fuzz/fuzz.ts';
const CRASH = 'test/crash/run.ts';
/** What a run says once its gateway is there. */
const GATEWAY = /at (http:\S+)/;

/** One for all, because the loader of TypeScript keeps there what it has made of each source. */
let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});
const filesLeft = async () =>
  (await readdir(folder)).filter((name) => !name.startsWith('swc-node'));

/** A run as its npm script starts it, whose temporary files lie in the folder. */
function start(file: string, args: readonly string[], more = {}): Program {
  const loader = ['--import', '@swc-node/register/esm-register'];
  const command = [process.execPath, ...loader, file, ...args] as const;
  return runProgram(command, { TMPDIR: folder, ...more });
}

describe('a run of damaged input or of kills', () => {
  it.each<[string, string[], string]>([
    [FUZZ, ['--vendors', '--count', 'abc'], '--count'],
    [FUZZ, ['--vendors', '--count', '0'], '--count'],
    [FUZZ, ['--vendors', '--vendor', 'nobody'], '--vendor'],
    [FUZZ, ['--vendors', '--counts', '5'], '--counts'],
    [FUZZ, ['--count', 'abc'], '--count'],
    [FUZZ, ['--seed', '1.5'], '--seed'],
    [FUZZ, ['--clients', '0'], '--clients'],
    [FUZZ, ['--grammar', 'none'], '--grammar'],
    [CRASH, ['--kills', 'abc'], '--kills'],
    [CRASH, ['--outage-every', '0'], '--outage-every'],
  ])(
    '%s %j is refused with one sentence that names the option',
    async (file, args, option) => {
      const run = start(file, args);
      expect(await run.exited).toEqual({ code: 2, signal: null });
      expect(run.stderr().trim().split('\n')).toEqual([expect.stringContaining(option)]);
      expect(run.stdout()).toBe('');
      expect(await filesLeft()).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'of tasks is refused where a variable is no count',
    async () => {
      const run = start(CRASH, ['tasks'], { KILLS: 'many' });
      expect(await run.exited).toEqual({ code: 2, signal: null });
      expect(run.stderr()).toContain('KILLS');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)(
    'ends everything that it started at %s, removes its files, and says so by %i',
    async (signal, code) => {
      const run = start(FUZZ, ['--vendors', '--vendor', 'fal', '--count', '100000']);
      await until(() => GATEWAY.test(run.stdout()), PROCESS_TEST_TIMEOUT_MS);
      const url = GATEWAY.exec(run.stdout())?.[1] ?? '';
      expect(await statusOf(`${url}/health/live`)).toBe(200);
      expect(await run.end(signal)).toEqual({ code, signal: null });
      expect(await statusOf(`${url}/health/live`)).toBeUndefined();
      expect(await processesIn(folder)).toEqual([]);
      expect(await filesLeft()).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'ends its database where the signal comes while that starts',
    async () => {
      const run = start(FUZZ, ['--vendors', '--vendor', 'fal']);
      await until(async () => (await processesIn(folder)).length > 0, PROCESS_TEST_TIMEOUT_MS);
      expect(await run.end('SIGTERM')).toEqual({ code: 143, signal: null });
      expect(await processesIn(folder)).toEqual([]);
      expect(await filesLeft()).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
