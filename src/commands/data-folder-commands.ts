import { Logger } from '@nestjs/common';
import { viewBackup, viewRestore } from '../backup/backup.view.js';
import { backUp } from '../backup/backup.js';
import { restore } from '../backup/restore.js';
import { SystemClock } from '../common/time/clock.js';
import type { GatewayConfig } from '../config/gateway-config.js';

/** A command about the data folder as a whole; it takes the name of a file. */
interface DataFolderCommand {
  readonly usage: string;
  /** Stops when the signal aborts, and leaves nothing. */
  readonly run: (config: GatewayConfig, file: string, signal: AbortSignal) => Promise<object>;
}

/** By their names. */
export const DATA_FOLDER_COMMANDS: Readonly<Record<string, DataFolderCommand>> = {
  backup: {
    usage: 'FILE',
    run: async (config, file, signal) =>
      viewBackup(await backUp(config, file, new SystemClock(), signal)),
  },
  restore: {
    usage: 'FILE',
    run: async (config, file, signal) => {
      // The answer says what an operator needs; what the database logs at its start does not.
      Logger.overrideLogger(false);
      return viewRestore(await restore(config, file, signal));
    },
  },
};
