import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { askRunningGateway } from './commands/operator-client.js';
import {
  KEYED,
  type OperatorReply,
  type OperatorRequest,
  type Question,
  takesKey,
  type TextPage,
} from './commands/operator-request.js';
import { operatorSocketPath } from './commands/operator-socket.js';
import { tableOf } from './commands/terminal-table.js';
import { printableText } from './common/printable-text.js';
import { ConfigError, loadOperatorConfig } from './platform/config/load-config.js';

const TEXTS = [
  'account-id amount-microusd api-key-id broken charge clear client-request-id created-after created-before cursor expires-at from group-by',
  'disabled idempotency-key kind limit modality model models name note overlap-seconds play-money requests-per-minute result',
  'spend-limit-microusd spend-limit-period status task-id to evidence outcome',
].flatMap((line) => line.split(' '));
const FLAGS = ['full', 'csv', 'json', 'all', 'yes', 'resume'];

/** They read or make the data folder as a whole, so the gateway that runs on it does not do them. */
const ON_DATA_FOLDER = ['backup', 'restore'];

/** The command as it was typed; without a name, but with the fault, if an option is unknown or has no value. */
function commandLine(): { request: OperatorRequest; asJson: boolean; fault?: string } {
  const options = Object.fromEntries([
    ...TEXTS.map((name) => [name, { type: 'string' as const }]),
    ...FLAGS.map((name) => [name, { type: 'boolean' as const }]),
  ]) as Record<string, { type: 'string' | 'boolean' }>;
  const actor = `cli:${userInfo().username}`;
  try {
    const { values, positionals } = parseArgs({
      args: typedWords(),
      options,
      allowPositionals: true,
    });
    const { json, ...others } = values as Record<string, string | boolean | undefined>;
    const [name = '', ...words] = positionals;
    // Without a key of the user every run is a new request, so running it twice credits twice.
    const key = takesKey(name) ? { 'idempotency-key': randomUUID() } : {};
    return {
      request: { name, words, options: { ...key, ...others }, actor },
      asJson: json === true,
    };
  } catch (error) {
    const request = { name: '', words: [], options: {}, actor };
    return { request, asJson: false, fault: `${(error as Error).message}\n` };
  }
}

/** The words behind the name of the program; `--play-money` alone means true. */
function typedWords(): string[] {
  const isValue = (word?: string) => word === 'true' || word === 'false';
  return process.argv
    .slice(2)
    .map((word, index, all) =>
      word === '--play-money' && !isValue(all[index + 1]) ? `${word}=true` : word,
    );
}

/** By the gateway that runs on this data folder and database, or here, which loads all that it needs first. */
async function replyTo(request: OperatorRequest): Promise<OperatorReply> {
  const config = loadOperatorConfig();
  if (ON_DATA_FOLDER.includes(request.name)) {
    const { runOnDataFolder } = await import('./commands/local-runner.js');
    return runOnDataFolder(request, config);
  }
  const path = operatorSocketPath(config);
  const reply = path === undefined ? undefined : await askRunningGateway(path, request);
  if (reply !== undefined) return reply;
  const { runLocally: runLocally } = await import('./commands/local-runner.js');
  return runLocally(request, config);
}

/** Answers the exit code. */
async function run(): Promise<number> {
  const { request, asJson, fault = '' } = commandLine();
  const reply = await replyTo(request);
  if (!('asks' in reply)) return report(request, reply, asJson, fault);
  if (reply.plan !== undefined) process.stdout.write(`${shown(reply.plan, asJson)}\n`);
  if (await agrees(reply)) {
    const agreed = { ...request, options: { ...request.options, yes: true } };
    return report(agreed, await replyTo(agreed), asJson, fault);
  }
  // A plan is what was asked for, and here it is.
  return reply.plan === undefined ? 1 : 0;
}

function report(
  request: OperatorRequest,
  reply: OperatorReply,
  asJson: boolean,
  fault: string,
): number {
  if ('usage' in reply) {
    process.stderr.write(`${printableText(fault + reply.usage, '\n')}\n`);
    return 2;
  }
  if ('error' in reply) return fail(reply.error);
  tellKey(request);
  const answer = 'answer' in reply ? reply.answer : undefined;
  const page = isTextPage(answer) ? answer : undefined;
  process.stdout.write(`${shown(page?.text ?? answer, asJson)}\n`);
  if (page) process.stderr.write(`More: --cursor ${printableText(page.next_cursor)}\n`);
  return isBad(answer) ? 1 : 0;
}

/** An audit with findings, or tasks of which not all were collected. */
function isBad(answer: unknown): boolean {
  const { object, ok, not_collected: left = 0 } = Object(answer) as Record<string, unknown>;
  return (object === 'audit' && ok !== true) || left !== 0;
}

/** Says what will be done and asks on a terminal. Where nobody can be asked, the answer is no, but for what scripts just do. */
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

/** On standard error, as what is answered is for programs: with the key the same refund can be asked for again. */
function tellKey({ name, options }: OperatorRequest): void {
  const key = options['idempotency-key'];
  if (name === KEYED.credit || !takesKey(name) || typeof key !== 'string') return;
  process.stderr.write(`Idempotency key: ${printableText(key)}\n`);
}

/** Whether its cursor is told beside it. JSON and tables have theirs in themselves. */
function isTextPage(answer: unknown): answer is TextPage {
  return typeof (answer as { text?: unknown } | null)?.text === 'string';
}

/** Text as it is, else a table for a terminal and JSON for programs. A terminal gets no character that it could execute. */
function shown(answer: unknown, asJson: boolean): string {
  const { isTTY } = process.stdout;
  if (typeof answer !== 'string' && isTTY && !asJson) return tableOf(answer);
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2);
  return isTTY ? printableText(text, '\r\n') : text;
}

function fail(reason: string): number {
  process.stderr.write(`${printableText(reason, '\n')}\n`);
  return 1;
}

run().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.exitCode = fail(error instanceof ConfigError ? error.message : String(error));
  },
);
