import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, dirname, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { printableText } from '../common/validation/text-rule.js';
import { ConfigError, loadOperatorConfig } from '../platform/config/load-config.js';
import { declarationOf, isFileCommand, optionsOf } from './command-declarations.js';
import { readCommandLine } from './command-line.js';
import { type Ask, followPages } from './follow-pages.js';
import { askRunningGateway } from './operator-client.js';
import {
  type OperatorReply,
  type OperatorRequest,
  type Question,
  takesKey,
} from './operator-request.js';
import { operatorSocketPath } from './operator-socket.js';
import { isTextPage, shownOn } from './shown-answer.js';

const EXIT = { done: 0, failed: 1, misused: 2 } as const;
type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** How to start this program, for the help: `shim` where it is installed so, such as in the image. */
function programName(): string {
  const path = process.argv[1] ?? '';
  // npx runs a link in a folder of its own, which is in no PATH.
  if (basename(path) === 'shim') return basename(dirname(path)) === '.bin' ? 'npx shim' : 'shim';
  const typed = relative(process.cwd(), path);
  return typed === 'scripts/cli.js' ? 'npm run cli --' : `node ${typed}`;
}

/** Sends the command to the gateway that runs on this data folder and database. If none runs, this process runs it. */
async function replyTo(request: OperatorRequest): Promise<OperatorReply> {
  if (isFileCommand(request.name)) {
    const { runFileCommand } = await import('./local-runner.js');
    return runFileCommand(request.name, request, loadOperatorConfig);
  }
  const config = loadOperatorConfig();
  const path = operatorSocketPath(config);
  const reply = path === undefined ? undefined : await askRunningGateway(path, request, pass);
  if (reply !== undefined) return reply;
  const { runLocally } = await import('./local-runner.js');
  return runLocally(request, config, pass);
}

async function run(): Promise<ExitCode> {
  const typed = readCommandLine(process.argv.slice(2), {
    program: programName(),
    actor: `cli:${userInfo().username}`,
  });
  if ('help' in typed) return print(typed.help);
  if ('misuse' in typed) return fail(typed.misuse, EXIT.misused);
  const { asJson } = typed;
  const request = await withFiles(typed.request);
  const { cells } = request.options;
  if (typeof cells === 'string') return askAllOf(cells, request, asJson);
  const reply = await replyTo(request);
  if (!('asks' in reply)) return report(request, reply, asJson);
  if (reply.plan !== undefined) print(shownOn(process.stdout, reply.plan, asJson));
  if (await agrees(reply)) {
    const agreed = { ...request, options: { ...request.options, yes: true } };
    return report(agreed, await replyTo(agreed), asJson);
  }
  // Printing the plan is the purpose of such a command, so it has succeeded.
  return reply.plan === undefined ? EXIT.failed : EXIT.done;
}

/** Asks the databases of several cells (decision G-113). Such commands only read, so nothing is asked of the operator. */
async function askAllOf(
  cells: string,
  request: OperatorRequest,
  asJson: boolean,
): Promise<ExitCode> {
  const [{ withCells }, { askCells }, { replyOf }] = await Promise.all([
    import('./cells/open-cells.js'),
    import('./cells/ask-cells.js'),
    import('./run-command.js'),
  ]);
  let code: ExitCode = EXIT.done;
  const reply = await replyOf(() =>
    withCells(cells, loadOperatorConfig(), async (opened) => {
      const ask: Ask = (next) => askCells(opened, next);
      code = await report(request, await ask(request), asJson, ask);
      return { printed: true };
    }),
  );
  return 'error' in reply ? fail(reply.error) : code;
}

/** The request with the texts of the files that its options name: the gateway may run elsewhere. Throws {@link ConfigError}. */
async function withFiles(request: OperatorRequest): Promise<OperatorRequest> {
  const declaration = declarationOf(request.name);
  const options: Record<string, string | boolean | undefined> = { ...request.options };
  for (const [name, { isFile }] of Object.entries(declaration ? optionsOf(declaration) : {})) {
    const path = options[name];
    if (isFile !== true || typeof path !== 'string') continue;
    options[name] = await readFile(path, 'utf8').catch((error: unknown) => {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      throw new ConfigError([`--${name}: ${path} cannot be read (${code}).`]);
    });
  }
  const { operands = [] } = declaration ?? {};
  const words = request.words.map((word, index) =>
    operands[index]?.isPath === true ? resolve(word) : word,
  );
  return { ...request, words, options };
}

async function report(
  request: OperatorRequest,
  reply: OperatorReply,
  asJson: boolean,
  ask: Ask = replyTo,
): Promise<ExitCode> {
  if ('usage' in reply) return fail(reply.usage, EXIT.misused);
  if ('error' in reply) return fail(reply.error);
  if ('printed' in reply) return print('');
  if ('asks' in reply) return fail('The gateway asks again. Nothing was done.');
  tell(...(reply.notes ?? []));
  tellKey(request);
  for await (const answer of followPages(request, reply.answer, ask)) {
    if ('error' in answer) return fail(answer.error);
    const { page } = answer;
    print(shownOn(process.stdout, isTextPage(page) ? page.text : page, asJson));
    if (isTextPage(page)) tell(`More: --cursor ${page.next_cursor}`);
    if (isBad(page)) return EXIT.failed;
  }
  return EXIT.done;
}

/** Whether the answer reports a failure: an audit with findings, a file with faults, tasks that were not all collected. */
function isBad(answer: unknown): boolean {
  const { ok, not_collected: left = 0 } = Object(answer) as Record<string, unknown>;
  return ok === false || left !== 0;
}

/** Says what will be done and asks for consent on a terminal. Without a terminal only commands with `scriptsGoAhead` go on. */
async function agrees({ asks, scriptsGoAhead = false }: Question): Promise<boolean> {
  const asked = printableText(asks, '\n');
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    if (scriptsGoAhead) return true;
    process.stderr.write(`${asked}\nNothing was done: run the command with --yes to do it.\n`);
    return false;
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on('error', () => undefined);
  const ended = once(lines, 'close').then(() => '');
  const said = await Promise.race([lines.question(`${asked}\nDo it? (y/N) `), ended]);
  lines.close();
  const isYes = /^\s*y(es)?\s*$/i.test(said);
  if (!isYes) process.stderr.write('Nothing was done.\n');
  return isYes;
}

/** Prints the idempotency key, with which the operator can repeat a refund safely. The answer of a credit already has its key. */
function tellKey({ name, options }: OperatorRequest): void {
  const key = options['idempotency-key'];
  if (name === 'account:credit' || !takesKey(name) || typeof key !== 'string') return;
  tell(`Idempotency key: ${key}`);
}

/** Writes a piece of a text when the ones before were taken, so that a slow reader makes no long queue. */
async function pass(piece: string): Promise<void> {
  const isTaken = process.stdout.write(shownOn(process.stdout, piece, false));
  if (!isTaken) await once(process.stdout, 'drain');
}

function print(text: string): ExitCode {
  process.stdout.write(`${text}\n`);
  return EXIT.done;
}

/** Writes to standard error, because programs read the answer from standard output. */
function tell(...sentences: readonly string[]): void {
  for (const sentence of sentences) process.stderr.write(`${printableText(sentence, '\n')}\n`);
}

function fail(reason: string, code: ExitCode = EXIT.failed): ExitCode {
  tell(reason);
  return code;
}

/** Runs the command of the command line and sets the exit code of the process. Never rejects. */
export async function runOperatorProgram(): Promise<void> {
  // The reader of the answer has ended, such as `head`.
  process.stdout.on('error', () => process.exit(EXIT.failed));
  try {
    process.exitCode = await run();
  } catch (error) {
    process.exitCode = fail(error instanceof ConfigError ? error.message : String(error));
  }
}
