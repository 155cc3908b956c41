import 'reflect-metadata';
import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CreateAccountBody, CreateKeyBody, CreditBody } from './admin/dto/admin.bodies.js';
import { AdminTasksService } from './admin/admin-tasks.service.js';
import { ResolveTaskBody } from './admin/dto/resolve-task.body.js';
import { OperatorActions } from './admin/operator-actions.js';
import { OperatorKeys } from './admin/operator-keys.js';
import { OperatorService } from './admin/operator.service.js';
import { AppModule } from './app.module.js';
import { loadCatalog } from './catalog/catalog-file.js';
import { GatewayError } from './common/errors/gateway-error.js';
import { validatorOf } from './common/validation/compiled-validator.js';
import { ConfigError, loadOperatorConfig } from './config/load-config.js';
import { makeLogger } from './observability/logger.js';
import { viewAccount } from './admin/views/account-record.view.js';
import { viewEntry } from './admin/views/ledger-entry.view.js';
import { viewIssuedKey } from './admin/views/api-key.view.js';
import { viewAudit } from './admin/views/audit.view.js';

const USAGE = `Usage: npm run cli -- <command>

  account:create NAME
  account:credit ACCOUNT AMOUNT_MICROUSD [--note TEXT] [--idempotency-key KEY]
  key:create ACCOUNT [--name TEXT] [--models ID,ID] [--expires-at EPOCH_SECONDS] [--requests-per-minute N]
  key:revoke KEY_ID
  task:resolve TASK succeeded|failed [--charge AMOUNT_MICROUSD] [--result JSON]
  audit [--full]

Answers are JSON on standard output. A correction is a negative amount behind --, as in: account:credit ACCOUNT -- -500`;

const OPTIONS = {
  note: { type: 'string' },
  'idempotency-key': { type: 'string' },
  name: { type: 'string' },
  models: { type: 'string' },
  'expires-at': { type: 'string' },
  'requests-per-minute': { type: 'string' },
  charge: { type: 'string' },
  result: { type: 'string' },
  full: { type: 'boolean' },
} as const;

type Options = Partial<Record<Exclude<keyof typeof OPTIONS, 'full'>, string>> & { full?: boolean };
interface Operators {
  readonly operator: OperatorService;
  readonly keys: OperatorKeys;
  readonly tasks: AdminTasksService;
}
type Command = (operators: Operators, words: string[], options: Options) => Promise<unknown>;

const number = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

/** The option as JSON; text that is none is left for the check of the body. */
function jsonOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const COMMANDS: Readonly<Record<string, Command>> = {
  'account:create': async ({ operator }, [name], options) => {
    const body = validatorOf(CreateAccountBody).parse({ name: name ?? options.name });
    return viewAccount(await operator.createAccount(body.name));
  },
  'account:credit': async ({ operator }, [account = '', amount], options) => {
    const body = validatorOf(CreditBody).parse({ amount_microusd: amount, note: options.note });
    // Without a key the command is its own request: running it twice credits twice.
    const key = options['idempotency-key'] ?? randomUUID();
    return viewEntry(await operator.credit(account, body, key));
  },
  'key:create': async ({ keys }, [account = ''], options) => {
    const body = validatorOf(CreateKeyBody).parse({
      name: options.name,
      allowed_models: options.models?.split(','),
      expires_at: number(options['expires-at']),
      requests_per_minute: number(options['requests-per-minute']),
    });
    return viewIssuedKey(await keys.create(account, body));
  },
  'key:revoke': async ({ keys }, [key = '']) => {
    await keys.revoke(key);
    return { id: key, revoked: true };
  },
  'task:resolve': ({ tasks }, [task = '', outcome], { charge, result }) =>
    tasks.resolve(
      task,
      validatorOf(ResolveTaskBody).parse({
        outcome,
        charged_microusd: charge,
        result: jsonOf(result),
      }),
    ),
  audit: async ({ operator }, _words, { full }) =>
    viewAudit(await operator.audit(full === true ? 'full' : 'new')),
};

/** Commands that change nothing, and leave no record. */
const READING: readonly string[] = ['audit'];
const PUBLIC_ID = /^[a-z]+_[0-9a-f]{32}$/;

/** Records what is to be changed, as the operator API does. */
function record(actions: OperatorActions, command: string, words: string[]): Promise<void> {
  return actions.record({
    actor: `cli:${userInfo().username}`,
    action: command,
    target: words.find((word) => PUBLIC_ID.test(word)) ?? null,
    address: null,
  });
}

/** Undefined where an option is unknown or lacks its value. */
function commandLine() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch {
    return undefined;
  }
}

async function run(): Promise<number> {
  const line = commandLine();
  const [name = '', ...words] = line?.positionals ?? [];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!line || !command) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const app = await openContext();
  try {
    if (!READING.includes(name)) await record(app.get(OperatorActions), name, words);
    const answer = await command(
      {
        operator: app.get(OperatorService),
        keys: app.get(OperatorKeys),
        tasks: app.get(AdminTasksService),
      },
      words,
      line.values,
    );
    process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
    return name === 'audit' && !(answer as { ok: boolean }).ok ? 1 : 0;
  } finally {
    await app.close();
  }
}

function openContext(): Promise<INestApplicationContext> {
  const config = loadOperatorConfig();
  const module = AppModule.forRoot({
    config,
    logger: makeLogger('silent', false),
    catalog: loadCatalog(config.catalogFile),
    providers: { providers: [] },
    shareEmbedded: true,
  });
  return NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
}

run().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const known = error instanceof GatewayError || error instanceof ConfigError;
    process.stderr.write(`${known ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
