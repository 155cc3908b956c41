import { Logger } from '@nestjs/common';
import { BackupError } from '../backup/backup-error.js';
import { viewBackup, viewRestore } from '../backup/backup.view.js';
import { backUp } from '../backup/backup.js';
import { restore } from '../backup/restore.js';
import { SystemClock } from '../common/time/clock.js';
import type { GatewayConfig } from '../config/gateway-config.js';

/** A command about the data folder as a whole; it takes the name of a file. When the signal aborts, it stops and leaves nothing. */
type DataFolderCommand = (
  config: GatewayConfig,
  file: string,
  signal: AbortSignal,
) => Promise<object>;

/** By their names. */
export const DATA_FOLDER_COMMANDS: Readonly<Record<string, DataFolderCommand>> = {
  backup: async (config, file, signal) =>
    viewBackup(await backUp(config, file, new SystemClock(), signal)),
  restore: async (config, file, signal) => {
    // The answer says what an operator needs; what the database logs at its start does not.
    Logger.overrideLogger(false);
    return viewRestore(await restore(config, file, signal));
  },
};

/** Aborts on SIGINT (Ctrl-C) and SIGTERM. */
export function stopSignal(): AbortSignal {
  const stopper = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      stopper.abort(new BackupError(`Stopped by ${name}; nothing was left behind.`));
    });
  }
  return stopper.signal;
}
