import type { CommandDeclaration } from '../command-declaration.js';
import { ACCOUNT, operand, PAGE, TIMES, YES, CELLS } from './shared-options.js';

/** What sums of calls and tasks take, with what they are summed up by where nothing is named. */
const sumOptions = (groupBy: 'day' | 'model') => ({
  'group-by': {
    value: 'day,hour,model,key,endpoint,run,account,provider,upstream_model',
    about: `One or more of them, with commas between; hours are kept for 14 days. Absent: ${groupBy}`,
  },
  from: {
    value: 'DAY',
    about: 'First day (UTC), such as 2026-11-01. Absent: 30 days back, 14 by hour',
  },
  to: { value: 'DAY', about: 'Last day (UTC), included. Absent: today' },
  'account-id': { value: 'ACCOUNT', about: ACCOUNT.about },
  'api-key-id': { value: 'KEY', about: 'Id of the key' },
  model: { value: 'MODEL', about: 'Id of the model' },
  csv: { about: 'Prints CSV' },
  ...CELLS,
  ...PAGE,
});

/** What the commands about the gateway as a whole take. */
export const GATEWAY_DECLARATIONS = {
  usage: {
    about: 'Sums up calls, quantities, charges and latencies',
    options: sumOptions('day'),
    notes: [
      'DAY is also taken as epoch seconds: --from the day in which they lie, --to the end before them.',
      'A quantity is summed up only over one unit: with models of several units in a row it is empty.',
    ],
    example: 'usage --group-by account,model --from 2026-11-01 --to 2026-11-30 --csv',
  },
  margin: {
    about: 'Sums up what was charged, what it cost at the providers, and what is left',
    options: sumOptions('model'),
    notes: ['A margin is empty where the cost of a call that succeeded is not known.'],
    example: 'margin --group-by account,model --from 2026-11-01 --to 2026-11-30 --csv',
  },
  'vendor:reconcile': {
    about: "Compares a vendor's bill with the costs of calls and tasks, and changes nothing",
    operands: [
      {
        name: 'FILE',
        about: 'CSV of request id and amount in USD, which the gateway reads',
        isPath: true,
      },
    ],
    options: {
      provider: { value: 'ID', about: 'Id of the provider whose bill it is' },
      from: {
        value: 'DAY',
        about: 'First day (UTC) of the bill. Absent: that of its first request',
      },
      to: { value: 'DAY', about: 'Last day (UTC), included. Absent: that of its last request' },
    },
    notes: [
      'It tells what they bill and we do not know, what we know and they do not bill, and what both bill differently: sums of all, and the first 1,000 of each.',
    ],
    example:
      'vendor:reconcile openrouter-2026-11.csv --provider openrouter --from 2026-11-01 --to 2026-11-30',
  },
  actions: {
    about: 'Lists what operators asked to change, newest first, with what it was before and after',
    options: {
      ...CELLS,
      actor: { value: 'WHO', about: "cli:USER, or the beginning of the token's SHA-256" },
      target: { value: 'ID', about: 'Id of what was changed or made' },
      action: {
        value: 'COMMAND',
        about: 'Kind of the act, by the name of its command: account:credit',
      },
      ...TIMES,
      ...PAGE,
    },
    example: 'actions --target key_… --from 2026-11-01',
  },
  find: {
    about: 'Says what has an id, and where the operator API reads it',
    operands: operand(
      'ID',
      'Any id (exec_…, chatcmpl-…, task_…, key_…), a client request id or an idempotency key',
    ),
    options: {
      ...CELLS,
      'account-id': { value: 'ACCOUNT', about: ACCOUNT.about },
    },
    example: 'find chatcmpl-…',
  },
  'catalog:changes': {
    about: 'Lists which model cost what, from when on and by which file, newest first',
    options: { model: { value: 'MODEL', about: 'Id of the model' }, ...PAGE },
    example: 'catalog:changes --model gen-5',
  },
  audit: {
    about: 'Proves that the books add up; ends with 1 where they do not',
    options: {
      ...CELLS,
      full: { about: 'Reads every entry, not only those since the last audit' },
    },
    example: 'audit --full',
  },
  'secret:rotate': {
    about: 'Seals everything anew with the first key of SECRET_KEY',
    example: 'secret:rotate',
  },
  'secret:forget': {
    about: 'Drops what no key of SECRET_KEY opens, for ever',
    options: YES,
    notes: ['It asks first.'],
    example: 'secret:forget',
  },
} as const satisfies Readonly<Record<string, CommandDeclaration>>;

/** What the commands take that open files or the database, and no running gateway. */
export const FILE_DECLARATIONS = {
  migrate: {
    about: 'Changes the schema of the database to that of this version',
    options: {
      check: { about: 'Changes nothing; ends with 1 where something is pending' },
      'dry-run': { about: 'Makes the changes in a transaction and takes them back' },
    },
    notes: [
      'It connects as MIGRATION_DATABASE_URL, if that is set, and gives the role of DATABASE_URL its rights.',
      'No other command changes a schema. A gateway does at its start, unless MIGRATE is off.',
    ],
    example: 'migrate --check',
  },
  'database:roles': {
    about: 'Makes or repairs the role of the processes, and one that only reads',
    options: {
      'dry-run': { about: 'Changes nothing; prints the statements' },
      'set-passwords': { about: 'Also gives roles that exist the passwords of their URLs' },
    },
    notes: [
      'It connects as MIGRATION_DATABASE_URL, the owner. The roles are those of DATABASE_URL and, if it is set, READER_DATABASE_URL.',
      'It may be repeated. A new role gets the password of its URL, which is neither sent nor printed: the server gets its SCRAM verifier.',
    ],
    example: 'database:roles --dry-run',
  },
  'config:check': {
    about: 'Checks the settings of its environment as a start does, and names every fault',
    notes: [
      'It reads the files of secrets and of CATALOG_FILE, and opens no database and no connection.',
      'Secrets are told only as set. A variable that may be a misspelt setting is a warning.',
    ],
    example: 'config:check',
  },
  'catalog:check': {
    about: 'Checks a file for CATALOG_FILE without using it, and names every fault',
    operands: operand('FILE', 'The overlay on the catalog'),
    example: 'catalog:check overlay.json',
  },
  'vendor:check': {
    about: 'Checks the file of a vendor without using it, and names every fault',
    operands: operand('FILE', 'A file for VENDORS_DIR'),
    example: 'vendor:check vendors/luma.json',
  },
  'account:cell': {
    about: 'Tells the id of this cell, for account:export in the cell that an account leaves',
    notes: [
      'The id is in the database of DATABASE_URL or MIGRATION_DATABASE_URL; the name in it is CELL.',
      'A file for this id is imported into no other database.',
    ],
    example: 'account:cell',
  },
  'account:export': {
    about: 'Moves an account out of this cell: into a file, then away by the receipt of the other',
    operands: operand('ACCOUNT', 'Id of the account, which is disabled and has nothing open'),
    options: {
      cell: {
        value: 'ID',
        about: 'Id of the cell that will have it: what account:cell prints there',
      },
      to: { value: 'FILE', about: 'The file to make, such as acme.shim-account' },
      'without-content': {
        about:
          'Leaves behind stored files, stored responses and kept answers that have not expired, and late results of tasks',
      },
      receipt: {
        value: 'RECEIPT',
        about: 'What account:import printed there. It ends the move here',
      },
    },
    notes: [
      'It works on the database of DATABASE_URL or MIGRATION_DATABASE_URL, with or without gateways.',
      'From the export on the account can neither spend nor be enabled here. Both steps may be repeated.',
    ],
    example: 'account:export acct_… --cell 07/… --to acme.shim-account',
  },
  'account:import': {
    about:
      'Adds the account of a file of account:export to this cell, disabled and without live keys',
    operands: operand('FILE', 'The file'),
    options: { refuse: { about: 'Decides that this file is never imported; the account stays' } },
    notes: [
      'All of it is written in one transaction, which ends with a full audit of this cell.',
      'It prints the receipt for account:export --receipt in the former cell.',
    ],
    example: 'account:import acme.shim-account',
  },
  backup: {
    about: 'Copies the data folder with its database into an archive',
    operands: operand('FILE', 'The archive to make, such as shim-2026-11-30.tar.gz'),
    options: {
      'without-content': {
        about: 'Leaves out stored responses with their conversations; needs room for a second copy',
      },
    },
    example: 'backup /backups/shim-2026-11-30.tar.gz',
  },
  restore: {
    about: 'Makes DATA_DIR, which must be empty, the data folder of a backup',
    operands: operand('FILE', 'The archive'),
    options: {
      resume: { about: 'Tasks that were open go on, and may be sent a second time' },
      ...YES,
    },
    notes: ['It asks first on a terminal.'],
    example: 'restore /backups/shim-2026-11-30.tar.gz',
  },
} as const satisfies Readonly<Record<string, CommandDeclaration>>;
