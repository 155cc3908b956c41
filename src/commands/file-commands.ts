import { resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import { BackupError } from '../backup/backup-parts.js';
import { viewBackup, viewRestore } from '../backup/backup.view.js';
import { backUp } from '../backup/backup.js';
import { restore } from '../backup/restore.js';
import { SystemClock } from '../common/time/clock.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { Database } from '../platform/database/database.js';
import { DatabaseRolesError, makeRoles, roleIn } from '../platform/database/database-roles.js';
import { findPooler } from '../platform/database/pooler.js';
import { waitForDatabase } from '../platform/database/wait-for-database.js';
import { moveIn, moveOut, tellCell } from './account-move-commands.js';
import { checkCatalog, checkConfig, checkVendor } from './setup-checks.js';
import type { FileCommandName } from './command-declarations.js';
import { withDatabaseNamed } from './database-unavailable.js';
import type { OperatorReply, Options } from './operator-request.js';

/**
 * A command about files, settings or the schema: it may take the name of a file. When the signal aborts, it stops and
 * leaves nothing behind. Reading the configuration throws ConfigError where it is invalid.
 */
type FileCommand = (
  config: () => GatewayConfig,
  file: string,
  options: Options,
  signal: AbortSignal,
  /** Who runs it. */
  actor: string,
) => Promise<OperatorReply>;

/** The commands about files, settings and the schema, by their names. They open no running gateway: `backup` and `restore` take the whole data folder. */
export const FILE_COMMANDS: Readonly<Record<FileCommandName, FileCommand>> = {
  migrate: (config, _file, options) => changeSchema(config(), options),
  'database:roles': (config, _file, options) => changeRoles(config(), options),
  'config:check': () => Promise.resolve({ answer: checkConfig() }),
  'catalog:check': (_config, file) => Promise.resolve({ answer: checkCatalog(file) }),
  'vendor:check': (_config, file) => Promise.resolve({ answer: checkVendor(file) }),
  'account:cell': (config) => {
    Logger.overrideLogger(false);
    return tellCell(config());
  },
  'account:export': (config, account, options, signal, actor) => {
    Logger.overrideLogger(false);
    return moveOut(config(), account, options, { actor, signal });
  },
  'account:import': (config, file, options, signal, actor) => {
    Logger.overrideLogger(false);
    return moveIn(config(), file, options, { actor, signal });
  },
  backup: async (config, file, options, signal) => {
    const terms = { withoutContent: options['without-content'] === true };
    return { answer: viewBackup(await backUp(config(), file, new SystemClock(), signal, terms)) };
  },
  restore: async (config, file, options, signal) => {
    if (options.yes !== true) {
      return {
        asks: `This makes ${resolve(config().dataDir)} a data folder with the accounts, keys and money of ${resolve(file)}. What happened after that backup is lost in it, so stop the gateway that it is of for good. ${options.resume === true ? 'Tasks that were open go on, and may be sent to their providers a second time.' : 'Tasks that were open are left to an operator (--resume sends them on).'}`,
        scriptsGoAhead: true,
      };
    }
    // The answer says what an operator needs; what the database logs at its start does not.
    Logger.overrideLogger(false);
    const terms = { resumes: options.resume === true };
    return { answer: viewRestore(await restore(config(), file, signal, terms)) };
  },
};

/** Tells what the schema lacks, tries the changes or makes them. `ok` is false where `--check` finds some. */
async function changeSchema(config: GatewayConfig, options: Options): Promise<OperatorReply> {
  Logger.overrideLogger(false);
  const { databaseUrl, databasePooler: pooler, dataDir } = config;
  const { migrationDatabaseUrl, readerDatabaseUrl } = config;
  const database = new Database({
    databaseUrl,
    migrationDatabaseUrl,
    readerDatabaseUrl,
    pooler,
    dataDir,
    shareEmbedded: true,
  });
  const isCheck = options.check === true;
  const how = isCheck ? 'look' : options['dry-run'] === true ? 'try' : 'apply';
  const changes = await withDatabaseNamed(config, () => database.changeSchema(how));
  await database.close();
  return { answer: { ok: !isCheck || changes.length === 0, changed: how === 'apply', changes } };
}

/** Makes or repairs the roles of `DATABASE_URL` and `READER_DATABASE_URL` as the owner, or tells the statements. */
async function changeRoles(config: GatewayConfig, options: Options): Promise<OperatorReply> {
  Logger.overrideLogger(false);
  const { databaseUrl, databasePooler, migrationDatabaseUrl: ownerUrl, readerDatabaseUrl } = config;
  if (ownerUrl === undefined || databaseUrl === undefined) {
    throw new DatabaseRolesError(
      'MIGRATION_DATABASE_URL must name the owner of the tables, and DATABASE_URL the role of the processes',
    );
  }
  const isTrial = options['dry-run'] === true;
  const terms = {
    ownerUrl,
    gateway: namedRole('DATABASE_URL', databaseUrl),
    ...(readerDatabaseUrl !== undefined && {
      reader: namedRole('READER_DATABASE_URL', readerDatabaseUrl),
    }),
    setsPasswords: options['set-passwords'] === true,
    isTrial,
  };
  const made = await withDatabaseNamed(config, async () =>
    waitForDatabase(
      async () => makeRoles({ ...terms, pooler: await findPooler(ownerUrl, databasePooler) }),
      () => undefined,
    ),
  );
  const { roles, statements, hasSchema } = made;
  const answer = { object: 'database_roles', changed: !isTrial, roles, statements };
  if (hasSchema) return { answer };
  return { answer, notes: ['There are no tables yet: `migrate` gives the rights on them.'] };
}

function namedRole(variable: string, url: string) {
  const role = roleIn(url);
  // Without quotes `public` is everybody.
  if (role.name !== '' && role.name !== 'public') return role;
  throw new DatabaseRolesError(
    `${variable} names no role: write it as postgresql://ROLE@host/name`,
  );
}

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
