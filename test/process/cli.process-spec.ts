import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { userInfo } from 'node:os';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  processesIn,
  runBuilt,
  startGatewayProgram,
  statusOf,
  temporaryFolder,
} from '../support/process.js';
import { until } from '../support/until.js';
import { createTestDatabase } from '../support/test-database.js';

const UNKNOWN_ACCOUNT = `acct_${'0'.repeat(32)}`;

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

let folder: string;
let gateway: GatewayProgram | undefined;

beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(cleanUp, PROCESS_TEST_TIMEOUT_MS);

const settings = () => ({ DATA_DIR: join(folder, 'data'), SECRET_KEY: '' });

async function cli(...args: string[]): Promise<Outcome> {
  const program = runBuilt('cli.js', args, settings());
  const { code } = await program.exited;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}

/** The JSON answer of a command that succeeds; one that moves money also says in words what it did. */
async function answerOf(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await cli(...args);
  const said = args[0] === 'account:credit' ? expect.stringMatching(/USD/) : '';
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: said });
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Makes an account with money and a key, with the command line alone. */
async function buyer(): Promise<{ account: string; keyId: string; key: string }> {
  const account = String((await answerOf('account:create', 'Zoë & Co')).id);
  const credit = [
    'account:credit',
    account,
    '5000000',
    '--note',
    'first',
    '--idempotency-key',
    'a',
  ];
  const entry = await answerOf(...credit);
  expect(entry).toMatchObject({
    object: 'ledger_entry',
    kind: 'credit',
    amount_microusd: '5000000',
    balance_after_microusd: '5000000',
    note: 'first',
    idempotency_key: 'a',
  });
  const made = await answerOf('key:create', account, '--name', 'ci', '--models', 'aud-v4,gen-5');
  expect(made).toMatchObject({
    object: 'api_key',
    name: 'ci',
    allowed_models: ['aud-v4', 'gen-5'],
  });
  return { account, keyId: String(made.id), key: String(made.key) };
}

const speak = (key: string) =>
  postJson(`${gateway?.url ?? ''}/v1/audio/speech`, { authorization: `Bearer ${key}` }, HELLO);

describe('operator commands', () => {
  it(
    'start and stop the database of their own while no gateway runs, from the very first',
    async () => {
      const { account } = await buyer();
      // The same idempotency key again changes nothing.
      const again = await answerOf(
        'account:credit',
        account,
        '5000000',
        '--note',
        'first',
        '--idempotency-key',
        'a',
      );
      expect(again).toMatchObject({ balance_after_microusd: '5000000' });
      expect(await answerOf('account:credit', account, '--yes', '--', '-1000000')).toMatchObject({
        kind: 'correction',
        balance_after_microusd: '4000000',
      });
      expect(await processesIn(folder)).toEqual([]);
      expect(await answerOf('audit')).toMatchObject({ ok: true, posted_microusd: '4000000' });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'share the database of a running gateway, which knows their keys at once and forgets them in time',
    async () => {
      const program = await startGatewayProgram(settings());
      gateway = program;
      await until(() => program.stdout().includes('There is no demo account'));
      const { account, keyId, key } = await buyer();
      expect((await speak(key)).status).toBe(200);
      const own = await send(`${gateway.url}/v1/account`, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect(own.json).toMatchObject({ id: account });
      expect(await answerOf('key:revoke', keyId)).toEqual({ id: keyId, revoked: true });
      await until(async () => (await speak(key)).status === 401);
      expect(await answerOf('audit')).toMatchObject({ ok: true, discrepancies: [] });
      expect(await statusOf(`${gateway.url}/health/ready`)).toBe(200);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'are done by the gateway that runs, so they load none of its parts, and by themselves after it was killed',
    async () => {
      const loadedBy = async (): Promise<string> => {
        const seen = await temporaryFolder();
        const audit = runBuilt('cli.js', ['audit'], { ...settings(), NODE_V8_COVERAGE: seen });
        expect(await audit.exited).toEqual({ code: 0, signal: null });
        expect(JSON.parse(audit.stdout())).toMatchObject({ ok: true });
        const files = (await readdir(seen)).map((name) => readFile(join(seen, name), 'utf8'));
        return (await Promise.all(files)).join('\n');
      };
      gateway ??= await startGatewayProgram(settings());
      const parts = /node_modules\/(@nestjs|typeorm|pg)\//;
      const loaded = await loadedBy();
      expect(loaded).toContain('/dist/cli.js');
      expect(loaded).not.toMatch(parts);
      await gateway.end('SIGKILL');
      expect(await loadedBy()).toMatch(parts);
      gateway = await startGatewayProgram(settings());
      expect(await loadedBy()).not.toMatch(parts);
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );

  it(
    'need no SECRET_KEY beside DATABASE_URL, which a gateway does',
    async () => {
      const database = await createTestDatabase();
      try {
        const DATABASE_URL = database.url;
        const audit = runBuilt('cli.js', ['audit'], { DATABASE_URL });
        expect(await audit.exited).toEqual({ code: 0, signal: null });
        expect(JSON.parse(audit.stdout())).toMatchObject({ ok: true });
        const refused = runBuilt('main.js', [], { DATABASE_URL, PORT: 'eighty' });
        expect(await refused.exited).toEqual({ code: 1, signal: null });
        for (const name of ['PORT', 'SECRET_KEY'])
          expect(refused.stderr()).toContain(`  ${name}: `);
      } finally {
        await database.drop();
      }
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'leave a record of what they change, with the user of the system who ran them',
    async () => {
      const database = await createTestDatabase();
      try {
        const DATABASE_URL = database.url;
        for (const args of [['account:create', 'A'], ['key:create', UNKNOWN_ACCOUNT], ['audit']]) {
          await runBuilt('cli.js', args, { DATABASE_URL }).exited;
        }
        const actor = `cli:${userInfo().username}`;
        const rows = await database.dataSource.query<Record<string, unknown>[]>(
          `SELECT actor, action, target, address, outcome, made
             FROM operator_action LEFT JOIN operator_outcome ON action_id = id ORDER BY id`,
        );
        expect(rows.map((row) => Object.values(row))).toEqual([
          [actor, 'account:create', null, null, 'done', expect.stringMatching(/^acct_/)],
          [actor, 'key:create', UNKNOWN_ACCOUNT, null, 'not_found', null],
        ]);
      } finally {
        await database.drop();
      }
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it.each([
    ['no account', ['account:credit', UNKNOWN_ACCOUNT, '5'], /No such|not/],
    ['an account without a name', ['account:create', ''], /name/],
    [
      'a limit that is none',
      ['key:create', UNKNOWN_ACCOUNT, '--requests-per-minute', 'x'],
      /requests_per_minute/,
    ],
  ])(
    'end with 1 and a reason on standard error for %s',
    async (_title, args, reason) => {
      const { code, stdout, stderr } = await cli(...args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(reason);
      expect(stderr.trim().split('\n')).toHaveLength(1);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'make no database where there is none, but for the first account',
    async () => {
      const dataDir = join(await temporaryFolder(), 'elsewhere');
      const audit = runBuilt('cli.js', ['audit'], { ...settings(), DATA_DIR: dataDir });
      expect(await audit.exited).toEqual({ code: 1, signal: null });
      expect(audit.stdout()).toBe('');
      expect(audit.stderr()).toContain(`DATA_DIR: ${dataDir} holds no database`);
      await expect(readdir(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it.each([[[]], [['toString']]])('end with 2 and show how they are used for %j', async (args) => {
    const { code, stdout, stderr } = await cli(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const name of ['account:create', 'account:credit', 'key:create', 'key:revoke', 'audit']) {
      expect(stderr).toContain(`\n  ${name}`);
    }
  });
});
