import 'reflect-metadata';
import type { GatewayConfig } from '../config/gateway-config.js';
import { withOperators, withTasks } from './open-operators.js';
import type { OperatorReply, OperatorRequest } from './operator-request.js';
import { replyOf, runCommand } from './run-command.js';

/** Runs a command in this process, with the database of `DATABASE_URL` or the embedded one, which it starts where none runs. */
export function runHere(request: OperatorRequest): Promise<OperatorReply> {
  return runCommand(request, { operators: withOperators, tasks: withTasks });
}

/** Runs `backup` or `restore`, which concern the data folder as a whole. Ctrl-C leaves nothing behind. */
export async function runOnDataFolder(
  request: OperatorRequest,
  config: GatewayConfig,
): Promise<OperatorReply> {
  const { DATA_FOLDER_COMMANDS, stopSignal } = await import('./data-folder-commands.js');
  const command = DATA_FOLDER_COMMANDS[request.name];
  const [file, ...more] = request.words;
  if (!command || file === undefined || more.length > 0) {
    return runHere({ ...request, name: '' });
  }
  return replyOf(() => command(config, file, stopSignal()));
}
