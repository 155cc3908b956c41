import 'reflect-metadata';
import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import type { OperatorActions } from './admin/operator-actions.js';
import { BackupError } from './backup/backup-error.js';
import { DATA_FOLDER_COMMANDS } from './commands/data-folder-commands.js';
import { withOperators, withTasks } from './commands/open-operators.js';
import type { OperatorCommand, Options } from './commands/operator-command.js';
import { OPERATOR_COMMANDS } from './commands/operator-commands.js';
import { TASK_COMMANDS } from './commands/task-commands.js';
import { tableOf } from './commands/terminal-table.js';
import { GatewayError } from './common/errors/gateway-error.js';
import { ConfigError, loadOperatorConfig } from './config/load-config.js';
import { DataDirInUseError } from './database/embedded/data-dir-lock.js';
import { SchemaTooNewError } from './database/run-migrations.js';

const USAGE = `Usage: npm run cli -- <command> [--json]

${Object.entries({ ...OPERATOR_COMMANDS, ...TASK_COMMANDS, ...DATA_FOLDER_COMMANDS })
  .map(([name, { usage }]) => `  ${name} ${usage}`.trimEnd())
  .join('\n')}

Answers are tables on a terminal, JSON elsewhere and with --json. T and EPOCH_SECONDS are seconds since 1970, DAY is one of those
or a date. A correction is a negative amount behind --, as in: account:credit ACCOUNT -- -500`;

const TEXTS = [
  'account-id api-key-id charge clear client-request-id created-after created-before cursor expires-at from group-by',
  'disabled idempotency-key kind limit modality model models name note overlap-seconds requests-per-minute result',
  'spend-limit-microusd spend-limit-period status task-id to',
].flatMap((line) => line.split(' '));
const FLAGS = ['full', 'csv', 'json'];

/** Their messages are sentences for operators. */
const KNOWN_ERRORS = [GatewayError, ConfigError, BackupError, DataDirInUseError, SchemaTooNewError];

const PUBLIC_ID = /^[a-z]+_[0-9a-f]{32}$/;

/** Records a change before it is made, as the operator API does. */
function record(actions: OperatorActions, command: string, words: string[]): Promise<void> {
  return actions.record({
    actor: `cli:${userInfo().username}`,
    action: command,
    target: words.find((word) => PUBLIC_ID.test(word)) ?? null,
    address: null,
  });
}

/** Undefined if an option is unknown or has no value. */
function commandLine() {
  const options = Object.fromEntries([
    ...TEXTS.map((name) => [name, { type: 'string' as const }]),
    ...FLAGS.map((name) => [name, { type: 'boolean' as const }]),
  ]) as Record<string, { type: 'string' | 'boolean' }>;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    return { values: values as Record<string, string | boolean | undefined>, positionals };
  } catch {
    return undefined;
  }
}

/** Answers the exit code. */
async function run(): Promise<number> {
  const line = commandLine();
  const [name = '', ...words] = line?.positionals ?? [];
  const { json, ...options } = line?.values ?? {};
  const work = line && workOf(name, words, options);
  if (!work) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const answer = await work();
  process.stdout.write(`${shown(answer, json === true)}\n`);
  return name === 'audit' && !(answer as { ok: boolean }).ok ? 1 : 0;
}

/** What the command does; undefined where there is none such. */
function workOf(
  name: string,
  words: string[],
  options: Options,
): (() => Promise<unknown>) | undefined {
  const command = ownOf(OPERATOR_COMMANDS, name);
  if (command) return () => withOperators((driven) => operate(command, driven));
  const ofTasks = ownOf(TASK_COMMANDS, name);
  if (ofTasks) return () => withTasks((driven) => operate(ofTasks, driven));
  const ofFolder = ownOf(DATA_FOLDER_COMMANDS, name);
  const [file, ...more] = words;
  if (!ofFolder || file === undefined || more.length > 0) return undefined;
  return () => ofFolder.run(loadOperatorConfig(), file, stopSignal());

  async function operate<Driven extends { readonly actions: OperatorActions }>(
    { changes, run: act }: OperatorCommand<Driven>,
    driven: Driven,
  ): Promise<unknown> {
    if (changes) await record(driven.actions, name, words);
    return act(driven, words, options);
  }
}

function ownOf<T>(commands: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(commands, name) ? commands[name] : undefined;
}

/** Ctrl-C and the system's wish to stop us. */
function stopSignal(): AbortSignal {
  const stopper = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      stopper.abort(new BackupError(`Stopped by ${name}; nothing was left behind.`));
    });
  }
  return stopper.signal;
}

/** Text as it is, else a table for a terminal and JSON for programs. */
function shown(answer: unknown, asJson: boolean): string {
  const isForPrograms = asJson || !process.stdout.isTTY;
  return isForPrograms && typeof answer !== 'string'
    ? JSON.stringify(answer, null, 2)
    : tableOf(answer);
}

run().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const isKnown = KNOWN_ERRORS.some((kind) => error instanceof kind);
    process.stderr.write(`${isKnown ? (error as Error).message : String(error)}\n`);
    process.exitCode = 1;
  },
);
