import { rmSync } from 'node:fs';
import { chmod, mkdtemp } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { cleanUp } from './process.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const NOT_CLEAN = 1;
const BAD_USAGE = 2;
const DIGITS = /^\d{1,9}$/;

/** Tells what ends something that a run has started; the last thing told is ended first. */
export type OnEnd = (end: () => Promise<unknown>) => void;

/** The work of a run. It says whether everything was as it has to be. */
export type LongRun = (onEnd: OnEnd) => Promise<boolean>;

/**
 * Does the work of a command that a person starts, and ends the process: 0 where everything was as it has to be, 1 where not, and
 * 128 and its number after a signal. In any case it ends what the run has started, and removes its temporary files. Modules that
 * make files when they are read are read by `load`.
 */
export async function longRun(load: () => Promise<LongRun>): Promise<never> {
  const folder = await mkdtemp(join(tmpdir(), 'shim-run-'));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  // As root, a database runs as another user, which needs access.
  await chmod(folder, 0o755);
  process.env.TMPDIR = folder;
  const ends: (() => Promise<unknown>)[] = [];
  const work = async (): Promise<number> => {
    const run = await load();
    return (await run((end) => ends.push(end))) ? 0 : NOT_CLEAN;
  };
  let code = await Promise.race([work(), signalled()]).catch(told);
  for (const end of [...ends.reverse(), cleanUp]) {
    // The others are ended all the same.
    code = await end().then(() => code, told);
  }
  process.exit(code);
}

/** The options of a run. Where one is unknown or has no value, the run is refused. */
export function runOptions<T extends ParseArgsConfig>(
  config: T,
): ReturnType<typeof parseArgs<T>>['values'] {
  try {
    return parseArgs(config).values;
  } catch (error) {
    return refuseRun((error as Error).message);
  }
}

/** The number that an option has, `least` or more. Anything else refuses the run: nothing would be played, and nothing fail. */
export function countOption(name: string, text: string, least = 1): number {
  const value = DIGITS.test(text) ? Number(text) : -1;
  if (value >= least) return value;
  return refuseRun(`${name} is a whole number from ${least} to 999999999, not "${text}".`);
}

/** Ends the process before anything has begun, with one sentence that says why. */
export function refuseRun(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(BAD_USAGE);
}

/** The exit code after the first signal. The second one ends the process at once. */
function signalled(): Promise<number> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) {
      process.once(signal, () => {
        resolve(128 + constants.signals[signal]);
      });
    }
  });
}

function told(error: unknown): number {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return NOT_CLEAN;
}
