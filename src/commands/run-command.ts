import { BackupError } from '../backup/backup-error.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { ConfigError } from '../platform/config/load-config.js';
import { databaseFaultOf, reasonOf } from '../platform/database/database-errors.js';
import { redactText } from '../common/secrets/redact-text.js';
import { DataDirInUseError } from '../platform/database/embedded/data-dir-lock.js';
import { SchemaTooNewError, SchemaTooOldError } from '../platform/database/schema-version.js';
import type { OperatorActions } from '../admin/operator-actions.js';
import { DatabaseUnavailableError } from './database-unavailable.js';
import type { OperatorCommand, Operators, TaskOperators } from './operator-command.js';
import { OPERATOR_COMMANDS } from './operator-commands.js';
import {
  howToRepeat,
  type OperatorReply,
  type OperatorRequest,
  type Options,
} from './operator-request.js';
import { TASK_COMMANDS } from './task-commands.js';

/** How a command gets the services it works with. They may be closed once the work is done. */
export interface Openers {
  readonly operators: <T>(work: (operators: Operators) => Promise<T>) => Promise<T>;
  readonly tasks: <T>(work: (operators: TaskOperators) => Promise<T>) => Promise<T>;
}

const USAGE = `Usage: npm run cli -- <command> [--json]

${[
  ...Object.entries({ ...OPERATOR_COMMANDS, ...TASK_COMMANDS }).map(([name, { usage }]) =>
    `  ${name} ${usage}`.trimEnd(),
  ),
  '  backup FILE',
  '  restore FILE [--resume] [--yes]',
].join('\n')}

Answers are tables on a terminal, JSON elsewhere and with --json. T and EPOCH_SECONDS are seconds since 1970, DAY is one of those
or a date. A correction is a negative amount behind --, as in: account:credit ACCOUNT --yes -- -500
Commands with [--yes] say what they will do and ask on a terminal. Elsewhere all but key:revoke and restore do nothing without --yes.`;

/** Their messages are sentences for operators. */
const KNOWN_ERRORS = [
  GatewayError,
  ConfigError,
  BackupError,
  DataDirInUseError,
  SchemaTooNewError,
  SchemaTooOldError,
  DatabaseUnavailableError,
];

/** How the usage of a command begins that is about one thing. */
const NEEDED = /^(ACCOUNT|KEY|EXECUTION|DELIVERY|TASK)\b/;

/** An option in a usage. */
const BRACKETED = /\[--([a-z-]+)(?: [^\]]*)?\]/g;

const PUBLIC_ID = /^[a-z]+_[0-9a-f]{32}$/;

/** Runs a command about anything but the data folder as a whole. */
export function runCommand(request: OperatorRequest, open: Openers): Promise<OperatorReply> {
  const { name } = request;
  const command = ownOf(OPERATOR_COMMANDS, name);
  const ofTasks = ownOf(TASK_COMMANDS, name);
  const misuse = misuseOf(request, (command ?? ofTasks)?.usage);
  if (misuse !== undefined) return Promise.resolve({ usage: misuse });
  if (command) {
    const run = () => open.operators((driven) => operate(command, request, driven));
    return replyOf(run, howToRepeat(request));
  }
  if (ofTasks) {
    const run = () => open.tasks((driven) => operate(ofTasks, request, driven));
    return replyOf(run, howToRepeat(request));
  }
  return Promise.resolve({ usage: USAGE });
}

/** What is wrong with the words and options of a known command, and how it is used; undefined if nothing is. */
function misuseOf({ name, words, options }: OperatorRequest, usage?: string): string | undefined {
  const fault = usage === undefined ? undefined : faultOf(words, options, usage);
  return fault && `${name} ${fault}.\nUsage: npm run cli -- ${name} ${usage}`.trimEnd();
}

/** A word or option that is left out of account could change what the operator meant, so it is refused. */
function faultOf(words: readonly string[], options: Options, usage: string): string | undefined {
  const needed = NEEDED.exec(usage)?.[0];
  if (needed !== undefined && words.length === 0 && options.all !== true) return `needs ${needed}`;
  const places = usage.replaceAll(BRACKETED, '').match(/\S+/g)?.length ?? 0;
  const extra = words[places];
  if (extra !== undefined) return `does not take ${JSON.stringify(extra)}`;
  const taken = [...usage.matchAll(BRACKETED)].map(([, option]) => option);
  const other = Object.keys(options).find((option) => !taken.includes(option));
  return other && `does not take --${other}`;
}

/** The reply, or why there is none. Where the work may have been done nevertheless, `repeat` says how to run it again. */
export async function replyOf(
  work: () => Promise<OperatorReply>,
  repeat = '',
): Promise<OperatorReply> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'service_unavailable') {
      return { error: error.message + repeat };
    }
    const isKnown = KNOWN_ERRORS.some((kind) => error instanceof kind);
    return { error: isKnown ? (error as Error).message : String(error) };
  }
}

/** Asks first where the command asks. Records a change before it is made and what came of it, as the operator API does. */
async function operate<Driven extends { readonly actions: OperatorActions }>(
  { changes, question, run }: OperatorCommand<Driven>,
  { name, words, options, actor }: OperatorRequest,
  driven: Driven,
): Promise<OperatorReply> {
  const perform = () => run(driven, words, options);
  const target = words.find((word) => PUBLIC_ID.test(word)) ?? null;
  try {
    const asked = options.yes === true ? undefined : await question?.(driven, words, options);
    if (asked !== undefined) return typeof asked === 'string' ? { asks: asked } : asked;
    if (!changes) return { answer: await perform() };
    const action = { actor, action: name, target, address: null };
    return { answer: await driven.actions.perform(action, perform) };
  } catch (error) {
    throw outageOf(error, changes) ?? error;
  }
}

/** The database went away under a command, which may have changed something. Undefined for any other error. */
function outageOf(error: unknown, changes = false): GatewayError | undefined {
  const fault = databaseFaultOf(error);
  if (fault !== 'unavailable' && fault !== 'lost') return undefined;
  const reason = redactText(reasonOf(error));
  const advice = changes
    ? 'See by actions and ledger what was done before you run the command again.'
    : 'Run the command again when it answers.';
  const message = `The database cannot be reached now (${reason}). ${advice}`;
  return new GatewayError('service_unavailable', message, { cause: error });
}

function ownOf<T>(commands: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(commands, name) ? commands[name] : undefined;
}
