import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cleanUp, PROCESS_TEST_TIMEOUT_MS, runBuilt } from '../support/process.js';
import { toPublicId } from '../../src/common/ids/public-id.js';
import { FAILURE, fundedAccount, ledgerOf, startOf } from '../support/test-ledger.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const TOKENS = {
  promptTokens: 5,
  cachedTokens: null,
  completionTokens: 400,
  reasoningTokens: null,
};

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  await cleanUp();
}, PROCESS_TEST_TIMEOUT_MS);

async function cli(...args: string[]) {
  const program = runBuilt('cli.js', args, { DATABASE_URL: database.url });
  const { code } = await program.exited;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}
async function answerOf<Answer = Record<string, unknown>>(...args: string[]): Promise<Answer> {
  const { code, stdout, stderr } = await cli(...args);
  const said = args[0] === 'account:credit' ? expect.stringMatching(/USD/) : '';
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: said });
  return JSON.parse(stdout) as Answer;
}

describe('the command line', () => {
  it(
    'does what the operator API does',
    async () => {
      const { id: account } = await answerOf<{ id: string }>('account:create', 'Acme');
      await answerOf('account:credit', account, '5000', '--yes');
      expect(await answerOf('accounts', '--name', 'acm')).toMatchObject({
        data: [{ id: account }],
      });
      const file = join(tmpdir(), 'partners.json');
      const models = [{ id: 'aud-v4', price: { unit: 'code_point', micro_usd: 7 } }];
      writeFileSync(file, JSON.stringify({ models }));
      const terms = ['--factor-permille', '900', '--file', file];
      expect(await answerOf('price-book:create', 'partners', ...terms)).toMatchObject({
        id: 'partners',
        factor_permille: 900,
        models,
      });
      expect(await answerOf('account:update', account, '--price-book', 'partners')).toMatchObject({
        price_book: 'partners',
      });
      const later = ['--factor-permille', '800', '--valid-from', '2100-01-01'];
      expect(await answerOf('price-book:replace', 'partners', ...later)).toMatchObject({
        planned: [{ factor_permille: 800, valid_from: 4_102_444_800 }],
      });
      expect(await answerOf('price-books')).toMatchObject({ data: [{ accounts: 1 }] });
      expect(await answerOf('account:update', account, '--clear', 'price-book')).toMatchObject({
        price_book: null,
      });
      await answerOf('price-book:delete', 'partners');
      expect(await answerOf('actions', '--target', 'partners')).toMatchObject({
        data: [
          { action: 'price-book:delete' },
          { action: 'price-book:replace' },
          { action: 'price-book:create' },
        ],
      });
      expect((await cli('price-book', 'partners')).code).toBe(1);
      expect(await answerOf('account:update', account, '--disabled', 'true')).toMatchObject({
        disabled: true,
      });
      expect(await answerOf('account', account)).toMatchObject({ available_microusd: '5000' });
      expect(await answerOf('ledger', account, '--kind', 'credit', '--limit', '1')).toMatchObject({
        data: [{ amount_microusd: '5000' }],
      });
      const limit = ['--spend-limit-microusd', '70', '--spend-limit-period', 'day'];
      const made = await answerOf<{ id: string }>('key:create', account, ...limit);
      const scopes = ['--scopes', 'call,manage'];
      const update = [...scopes, '--models', 'aud-v4', '--clear', 'spend-limit-microusd'];
      expect(await answerOf('key:update', made.id, ...update)).toMatchObject({
        allowed_models: ['aud-v4'],
        scopes: ['call', 'manage'],
        spend_limit_microusd: null,
      });
      expect(await answerOf('keys', account)).toMatchObject({ data: [{ id: made.id }] });
      expect(await answerOf('key:rotate', made.id)).toMatchObject({ allowed_models: ['aud-v4'] });
      for (const list of ['executions', 'tasks', 'deliveries', 'usage']) {
        expect(await answerOf(list)).toMatchObject({ object: 'list', data: [] });
      }
      const { code, stdout } = await cli('usage', '--limit', '1', '--cursor', '1', '--json');
      expect([code, JSON.parse(stdout)]).toMatchObject([0, { data: [], next_cursor: null }]);
      expect((await cli('usage', '--csv', '--group-by', 'model')).stdout).toMatch(/^model,calls,/);
      const { data } = await answerOf<{ data: { action: string }[] }>('actions', '--limit', '100');
      expect(data.map(({ action }) => action)).toEqual([
        'key:rotate',
        'key:update',
        'key:create',
        'account:update',
        'price-book:delete',
        'account:update',
        'price-book:replace',
        'account:update',
        'price-book:create',
        'account:credit',
        'account:create',
      ]);
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );

  it(
    'says beside the CSV of usage that rows follow, and their cursor',
    async () => {
      await database.dataSource.query(
        `INSERT INTO usage_day (account_id, day, api_key_id, model, endpoint, calls, failures, quantity, charged, given_back)
         SELECT gen_random_uuid(), '2026-01-01', gen_random_uuid(), model, '/v1/audio/speech', 1, 0, 1, 1, 0
           FROM unnest(ARRAY['aud-v3', 'aud-v4']) model`,
      );
      const page = 'usage --csv --group-by account,model --from 2026-01-01 --limit 1'.split(' ');
      const first = await cli(...page);
      expect(first).toMatchObject({ code: 0, stderr: 'More: --cursor 1\n' });
      const second = await cli(...page, '--cursor', '1');
      expect(second).toMatchObject({ code: 0, stderr: '' });
      const models = [first, second].map(({ stdout }) => /^[^,]+,(aud-v\d),/m.exec(stdout)?.[1]);
      expect(models.sort()).toEqual(['aud-v3', 'aud-v4']);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'lists the streams that broke and are free, or all other calls',
    async () => {
      const { dataSource } = database;
      const ledger = ledgerOf(dataSource);
      const accountId = await fundedAccount(dataSource, 1_000n);
      const uncharged = { unit: 'token', quantity: TOKENS } as const;
      for (const failure of [{ ...FAILURE, uncharged }, FAILURE]) {
        const start = startOf(accountId, 10n);
        await ledger.executions.begin(start);
        await ledger.executions.fail(start, failure);
      }
      await ledger.owed.beforeApplicationShutdown();
      const made = { unit: 'token', quantity: { completion_tokens: 400 } };
      for (const [broken, told] of [
        ['true', made],
        ['false', null],
      ] as const) {
        expect(await answerOf('executions', '--broken', broken)).toMatchObject({
          data: [{ account_id: toPublicId('acct', accountId), status: 'failed', uncharged: told }],
        });
      }
      const { code, stderr } = await cli('executions', '--broken', 'yes');
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^executions does not take "yes"/)]);
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );

  it(
    'ends with 1 where nothing has the id, or a value is wrong',
    async () => {
      const missing = '0'.repeat(32);
      for (const args of [
        ['execution', `exec_${missing}`],
        ['execution:refund', `exec_${missing}`],
        ['delivery:redeliver', `whd_${missing}`],
        ['task', `task_${missing}`],
        ['demo-key'],
        ['usage', '--from', 'soon'],
        ['executions', '--status', 'odd'],
      ]) {
        const { code, stdout, stderr } = await cli(...args);
        expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
        expect(stderr.trim().split('\n')).toHaveLength(1);
      }
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );

  it(
    'ends with 2 and the usage of the command where the id is missing',
    async () => {
      for (const [name, needed] of [
        ['key:create', 'ACCOUNT'],
        ['task:refund', 'TASK'],
        ['account:create', 'NAME'],
        ['account:credit', 'ACCOUNT'],
        ['backup', 'FILE'],
      ] as const) {
        const { code, stdout, stderr } = await cli(name);
        expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
        const [reason, usage] = stderr.split('\n');
        expect(reason).toBe(`${name} needs ${needed}.`);
        expect(usage).toMatch(new RegExp(`^Usage: node \\S+ ${name} ${needed}`));
      }
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'ends with 2 and changes nothing where a word or an option has no place in the command',
    async () => {
      for (const [args, reason] of [
        [['account:create', 'Two', 'Words'], 'account:create does not take "Words".'],
        [['accounts', 'Two'], 'accounts does not take "Two".'],
        [
          ['execution:refund', 'exec_1', '--charge', '5'],
          'execution:refund does not take --charge.',
        ],
        [['audit', '--csv'], 'audit does not take --csv.'],
        [['account:credit', 'acct_1', '-x'], 'account:credit does not take -x.'],
        [['accounts', '--limit'], 'accounts needs a value behind --limit: --limit N.'],
        [['accounts', '--nmae', 'x'], 'accounts does not take --nmae. Did you mean --name?'],
      ] as const) {
        const { code, stdout, stderr } = await cli(...args);
        expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
        expect(stderr.split('\n')[0]).toEqual(
          typeof reason === 'string' ? reason : expect.stringMatching(reason),
        );
        expect(stderr).toContain('Usage: node ');
      }
      expect(await answerOf('accounts', '--name', 'Two')).toMatchObject({ data: [] });
    },
    PROCESS_TEST_TIMEOUT_MS * 2,
  );
});
