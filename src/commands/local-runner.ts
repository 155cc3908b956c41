import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { ConfigError } from '../platform/config/load-config.js';
import type { FileCommandName } from './command-declarations.js';
import { withDatabaseNamed } from './database-unavailable.js';
import { withOperators, withTasks } from './open-operators.js';
import type { OperatorReply, OperatorRequest, Print } from './operator-request.js';
import { replyOf, runCommand } from './run-command.js';

/** The only command that may begin a new embedded database. */
const BEGINNING = 'account:create';

/** Runs a command in this process, with the database of `DATABASE_URL` or the embedded one, which it starts where none runs. */
export function runLocally(
  request: OperatorRequest,
  config: GatewayConfig,
  print: Print,
): Promise<OperatorReply> {
  const checked =
    <Work, Answer>(open: (work: Work) => Promise<Answer>) =>
    (work: Work): Promise<Answer> => {
      if (request.name !== BEGINNING) needDatabase(config);
      return withDatabaseNamed(config, () => open(work));
    };
  const [operators, tasks] = [checked(withOperators), checked(withTasks)];
  return runCommand(request, { operators, tasks, print });
}

/** Throws ConfigError where there is nothing to read: a command in the wrong folder must not answer for empty books. */
function needDatabase({ databaseUrl, dataDir }: GatewayConfig): void {
  if (databaseUrl !== undefined || existsSync(join(dataDir, 'postgres'))) return;
  const problem = `DATA_DIR: ${resolve(dataDir)} holds no database. Set it to the gateway's, or start the gateway first.`;
  throw new ConfigError([problem]);
}

/** Runs a command that opens no running gateway, such as `backup`. Ctrl-C leaves nothing behind. */
export async function runFileCommand(
  name: FileCommandName,
  { words: [file = ''], options, actor }: OperatorRequest,
  config: () => GatewayConfig,
): Promise<OperatorReply> {
  const { FILE_COMMANDS, stopSignal } = await import('./file-commands.js');
  return replyOf(() => FILE_COMMANDS[name](config, file, options, stopSignal(), actor));
}
