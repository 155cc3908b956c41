import { readFileSync } from 'node:fs';

const PACKAGE = new URL('../../package.json', import.meta.url);
const USAGE = `Usage: node dist/main.js [--check | --version | --help]

Starts the gateway with the settings of the environment (docs/reference/configuration.md).

  --check    Checks the settings as a start does, names every fault, and starts nothing
  --version  Prints the version
  --help     Prints this
`;
const MISUSED = 2;

/**
 * Answers the option of the command line in place of a start, and sets the exit code of the process: 0, 1 for settings
 * with faults, 2 for an unknown option. Answers false where there is none.
 */
export async function answerOption(words: readonly string[]): Promise<boolean> {
  const [option] = words;
  if (option === undefined) return false;
  if (words.length > 1 || !Object.hasOwn(ANSWERS, option)) {
    process.stderr.write(`There is no option ${JSON.stringify(words.join(' '))}.\n${USAGE}`);
    process.exitCode = MISUSED;
    return true;
  }
  await ANSWERS[option]?.();
  return true;
}

const ANSWERS: Readonly<Record<string, () => Promise<void> | void>> = {
  '--help': () => {
    process.stdout.write(USAGE);
  },
  '--version': () => {
    const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string };
    process.stdout.write(`${version}\n`);
  },
  '--check': async () => {
    await import('reflect-metadata');
    const { checkConfig } = await import('../commands/setup-checks.js');
    const { ok, faults, warnings } = checkConfig();
    for (const line of warnings) process.stderr.write(`Warning: ${line}\n`);
    for (const line of faults) process.stderr.write(`${line}\n`);
    if (ok) process.stdout.write('The settings are valid.\n');
    process.exitCode = ok ? 0 : 1;
  },
};
