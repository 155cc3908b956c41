import { StreamableFile } from '@nestjs/common';
import { AccountMoveError } from '../account-moves/move-session.js';
import { readTarget, type TargetServices } from '../admin/operator-targets.js';
import { BackupError } from '../backup/backup-parts.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { redactText } from '../common/secrets/redact-text.js';
import { ConfigError } from '../platform/config/load-config.js';
import { databaseFaultOf, reasonOf } from '../platform/database/database-errors.js';
import { DataDirInUseError } from '../platform/database/embedded/data-dir-lock.js';
import { DatabaseRolesError } from '../platform/database/database-roles.js';
import { SchemaPendingError } from '../platform/database/database.js';
import { SchemaTooNewError, SchemaTooOldError } from '../platform/database/schema-version.js';
import { declarationOf } from './command-declarations.js';
import { misuseOf } from './command-misuse.js';
import { DatabaseUnavailableError } from './database-unavailable.js';
import { overviewText, usageLine } from './help.js';
import {
  type CommonServices,
  NotedAnswer,
  type OperatorCommand,
  type Operators,
  type TaskOperators,
} from './operator-command.js';
import { OPERATOR_COMMANDS } from './operator-commands.js';
import {
  howToRepeat,
  type OperatorReply,
  type OperatorRequest,
  type Print,
} from './operator-request.js';
import { TASK_COMMANDS } from './task-commands.js';

/** How a command gets the services it works with. They may be closed once the work is done. */
export interface Openers {
  readonly operators: <T>(work: (operators: Operators) => Promise<T>) => Promise<T>;
  readonly tasks: <T>(work: (operators: TaskOperators) => Promise<T>) => Promise<T>;
  /** Takes an answer that is a text of any length. */
  readonly print: Print;
}

/** How the usage names the program where the words did not come from this version's command line. */
const PROGRAM = 'shim';

/** Their messages are sentences for operators. */
const KNOWN_ERRORS = [
  GatewayError,
  ConfigError,
  AccountMoveError,
  BackupError,
  DataDirInUseError,
  DatabaseRolesError,
  SchemaPendingError,
  SchemaTooNewError,
  SchemaTooOldError,
  DatabaseUnavailableError,
];

const PRICE_BOOK = 'price-book:';
const ROUTE = 'route:';
const PUBLIC_ID = /^[a-z]+_[0-9a-f]{32}$/;

/** Runs a command about anything but files. The words are checked again, for the command line may be of another version. */
export async function runCommand(request: OperatorRequest, open: Openers): Promise<OperatorReply> {
  const { name, words, options } = request;
  const declaration = declarationOf(name);
  const misuse = declaration && misuseOf(declaration, words, options);
  if (misuse !== undefined) return { usage: `${name} ${misuse}\n${usageLine(PROGRAM, name)}` };
  if (isOwn(OPERATOR_COMMANDS, name)) {
    const command = OPERATOR_COMMANDS[name];
    const run = () => open.operators((services) => operate(command, request, services, open.print));
    return replyOf(run, howToRepeat(request));
  }
  if (isOwn(TASK_COMMANDS, name)) {
    const command = TASK_COMMANDS[name];
    const run = () => open.tasks((services) => operate(command, request, services, open.print));
    return replyOf(run, howToRepeat(request));
  }
  return { usage: `There is no command ${JSON.stringify(name)}.\n${overviewText(PROGRAM)}` };
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
    if (error instanceof GatewayError && error.code === 'not_found') {
      return { error: error.message, isUnknown: true };
    }
    const isKnown = KNOWN_ERRORS.some((kind) => error instanceof kind);
    return { error: isKnown ? (error as Error).message : String(error) };
  }
}

/** Asks first where the command asks. Records a change before it is made and what came of it, as the operator API does. */
async function operate<Services extends CommonServices & Partial<TargetServices>>(
  { changes, question, run }: OperatorCommand<Services>,
  request: OperatorRequest,
  services: Services,
  print: Print,
): Promise<OperatorReply> {
  try {
    const { name, words, options, actor } = await withAccountIds(request, services);
    const asked = options.yes === true ? undefined : await question?.(services, words, options);
    if (asked !== undefined) return typeof asked === 'string' ? { asks: asked } : asked;
    if (!changes) return await printed(await run(services, words, options, actor), print);
    const target = targetOf(name, words);
    const action = { actor, action: name, target, address: null };
    let notes: readonly string[] = [];
    let isReplay = false;
    const perform = async () => {
      const answer = await run(services, words, options, actor);
      if (!(answer instanceof NotedAnswer)) return answer;
      ({ notes, isReplay } = answer);
      return answer.answer;
    };
    const read = (id: string) => readTarget(services, id);
    const answer = await services.actions.perform(action, perform, read, () => isReplay);
    return notes.length === 0 ? { answer } : { answer, notes };
  } catch (error) {
    throw outageOf(error, changes) ?? error;
  }
}

/** The reply with this answer. A text of any length is printed in pieces, each read when the one before was taken. */
async function printed(answer: unknown, print: Print): Promise<OperatorReply> {
  if (!(answer instanceof StreamableFile)) return { answer };
  for await (const piece of answer.getStream()) await print(String(piece));
  return { printed: true };
}

/** The id of what the command is about; a price book has a name of the operator's for its id, a route that of its provider and its own. */
function targetOf(name: string, words: readonly string[]): string | null {
  const [first = null] = words;
  if (name.startsWith(PRICE_BOOK)) return first;
  if (name.startsWith(ROUTE)) return words.join('/');
  return words.find((word) => PUBLIC_ID.test(word)) ?? null;
}

/** The request with the id of each account that it names by its name. Throws 404, or 400 for a name of several accounts. */
async function withAccountIds(
  request: OperatorRequest,
  { operator }: CommonServices,
): Promise<OperatorRequest> {
  const { operands = [] } = declarationOf(request.name) ?? {};
  const words = await Promise.all(
    request.words.map((word, index) =>
      operands[index]?.name === 'ACCOUNT' ? operator.accountIdOf(word) : Promise.resolve(word),
    ),
  );
  const account = request.options['account-id'];
  if (typeof account !== 'string') return { ...request, words };
  const id = await operator.accountIdOf(account);
  return { ...request, words, options: { ...request.options, 'account-id': id } };
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

function isOwn<Name extends string>(
  commands: Readonly<Record<Name, unknown>>,
  name: string,
): name is Name {
  return Object.hasOwn(commands, name);
}
