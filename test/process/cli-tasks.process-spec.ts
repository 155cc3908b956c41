import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestAccount } from '../support/gateway.js';
import { postJson, send } from '../support/http-answer.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  startGatewayProgram,
} from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const SONG = { model: 'song-music', prompt: 'The sea', instrumental: false };
const CREDIT = 1_000_000n;

let database: TestDatabase;
let gateway: GatewayProgram;
let account: TestAccount;

beforeAll(async () => {
  database = await createTestDatabase();
  // No task is sent, so a test may choose its outcome.
  gateway = await startGatewayProgram({ DATABASE_URL: database.url, TASK_TICK_MS: '86400000' });
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

async function run(...args: string[]) {
  const program = runBuilt('cli.js', args, { DATABASE_URL: database.url });
  const { code } = await program.exited;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}

const cli = (...args: string[]) => run('task:resolve', '--yes', ...args);

/** The id of a song of a new account, with an unknown outcome. */
async function unknown(): Promise<string> {
  account = await gateway.account(CREDIT);
  const answer = await postJson(`${gateway.url}/v1/music/generations`, account.headers, SONG);
  expect(answer.status === 202 ? '' : answer.bytes.toString()).toBe('');
  await database.dataSource.query(
    `UPDATE task SET status = 'reconciliation_required', completed_at = now() WHERE status = 'queued'`,
  );
  return (answer.json as { id: string }).id;
}
const read = async (path: string) =>
  (await send(`${gateway.url}/v1/${path}`, { headers: account.headers })).json;

describe('task:resolve', () => {
  it(
    'charges what it is told and shows the result to the clients of the running gateway',
    async () => {
      const id = await unknown();
      const result = { urls: ['https://media.example/a.mp3'] };
      const args = [id, 'succeeded', '--charge', '5', '--result', JSON.stringify(result)];
      const { code, stdout, stderr } = await cli(...args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const task = { id, status: 'succeeded', charged_microusd: '5', result };
      expect(JSON.parse(stdout)).toMatchObject(task);
      expect(await read(`tasks/${id}`)).toMatchObject(task);
      expect(await read('account')).toMatchObject({
        available_microusd: String(CREDIT - 5n),
        held_microusd: '0',
      });
      const again = await cli(id, 'failed');
      expect(again).toMatchObject({ code: 1, stdout: '' });
      expect(again.stderr).toMatch(/not waiting to be resolved/);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'gives back what was held for a task that failed',
    async () => {
      const id = await unknown();
      expect(await cli(id, 'failed')).toMatchObject({ code: 0, stderr: '' });
      expect(await read(`tasks/${id}`)).toMatchObject({ status: 'failed', charged_microusd: null });
      expect(await read('account')).toMatchObject({
        available_microusd: String(CREDIT),
        held_microusd: '0',
      });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'ends with 1, names what is wrong, and leaves the task as it is',
    async () => {
      const id = await unknown();
      const wrongs: [RegExp, string[]][] = [
        [/No such task/, [`task_${'0'.repeat(32)}`, 'failed']],
        [/outcome/, [id, 'expired']],
        [/charge/, [id, 'succeeded', '--charge', '99999999']],
        [/result/, [id, 'succeeded', '--result', '{"urls":']],
        [/result/, [id, 'succeeded', '--result', '{"urls":5}']],
      ];
      const ends = await Promise.all(
        wrongs.map(async ([reason, args]) => ({ args, reason, ...(await cli(...args)) })),
      );
      for (const { args, reason, code, stdout, stderr } of ends) {
        expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
        expect(stderr).toMatch(reason);
      }
      expect(await read(`tasks/${id}`)).toMatchObject({ status: 'reconciliation_required' });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

describe('task:refund', () => {
  it(
    'gives the charge back in parts, each once for its key, and says when nothing is left',
    async () => {
      const id = await unknown();
      expect(await cli(id, 'succeeded')).toMatchObject({ code: 0, stderr: '' });
      const part = await run('task:refund', id, '--yes', '--amount-microusd', '1');
      expect(part.code).toBe(0);
      const [, key = ''] = /^Idempotency key: (\S+)$/m.exec(part.stderr) ?? [];
      const same = await run(
        'task:refund',
        id,
        '--yes',
        '--amount-microusd',
        '1',
        '--idempotency-key',
        key,
      );
      expect([same.code, same.stdout]).toEqual([0, part.stdout]);
      expect(part.stderr).toContain('gave 1 micro-USD (0.000001 USD) to account');
      expect(same.stderr).toContain('Nothing was done now');
      const { code, stdout } = await run('task:refund', id, '--yes', '--note', 'sorry');
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        object: 'ledger_entry',
        kind: 'correction',
        reference: id,
        note: 'sorry',
        balance_after_microusd: String(CREDIT),
      });
      const again = await run('task:refund', id, '--yes');
      expect(again).toMatchObject({ code: 1, stdout: '' });
      expect(again.stderr).toMatch(/Nothing is left/);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

describe('a command about money', () => {
  it(
    'says what it will do and does nothing where nobody can be asked and --yes is missing',
    async () => {
      const id = await unknown();
      const { id: accountId } = (await read('account')) as { id: string };
      const asked = [
        ['task:resolve', id, 'failed'],
        ['task:resolve', id, 'succeeded'],
        ['task:resolve', id, 'collect', '--charge', '5'],
        ['account:credit', accountId, '--', '-5'],
        ['account:credit', accountId, '-5'],
        ['account:credit', accountId, '--usd', '-0.5'],
        ['account:credit', accountId, '5'],
        ['account:credit', accountId, '9999'],
        ['task:refund', id],
        ['task:refund', id, '--amount-microusd', '7'],
      ];
      const ends = await Promise.all(asked.map((args) => run(...args)));
      expect(ends.map(({ code, stdout }) => ({ code, stdout }))).toEqual(
        asked.map(() => ({ code: 1, stdout: '' })),
      );
      const said = ends.map(({ stderr }) => stderr.split('\n'));
      const charge = (await read(`tasks/${id}`)) as { reserved_microusd: string };
      expect(said.map(([sentence]) => sentence)).toEqual([
        expect.stringContaining(`gives back the ${charge.reserved_microusd} micro-USD (`),
        expect.stringMatching(/charges account acct_\w+ \d+ micro-USD .* leaves its result empty/),
        expect.stringMatching(
          /fetches the result .* charges account acct_\w+ 5 micro-USD \(0.000005 USD\)/,
        ),
        expect.stringMatching(/takes 5 micro-USD \(0.000005 USD\) from account/),
        expect.stringMatching(/takes 5 micro-USD \(0.000005 USD\) from account/),
        expect.stringMatching(/takes 500000 micro-USD \(0.50 USD\) from account/),
        expect.stringMatching(/gives 5 micro-USD \(0.000005 USD\) to .* type --usd 5 instead\.$/),
        expect.stringMatching(/gives 9999 micro-USD .* type --usd 9999 instead\.$/),
        expect.stringMatching(/gives what is left of the charge .* back to account acct_\w+\./),
        expect.stringMatching(/gives 7 micro-USD \(0.000007 USD\) of the charge .* back/),
      ]);
      for (const [, second] of said) expect(second).toMatch(/^Nothing was done: .*--yes/);
      expect(await read(`tasks/${id}`)).toMatchObject({ status: 'reconciliation_required' });
      for (const amount of [['10000'], ['--usd', '0.01']]) {
        const credit = await run('account:credit', accountId, ...amount);
        expect(credit.code).toBe(0);
        expect(credit.stderr).toContain(`gave 10000 micro-USD (0.01 USD) to account ${accountId}`);
      }
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'about all late successes prints them and their sum, and does them with --yes',
    async () => {
      const id = await unknown();
      const { reserved_microusd: reserved } = (await read(`tasks/${id}`)) as {
        reserved_microusd: string;
      };
      await database.dataSource.query(
        `UPDATE task SET evidence_status = 'succeeded', evidence_at = now() WHERE id = $1`,
        [id.slice('task_'.length)],
      );
      const all = ['task:resolve', '--all', '--evidence', 'succeeded', '--outcome', 'collect'];
      const plan = await run(...all);
      expect(plan).toMatchObject({ code: 0, stderr: expect.stringMatching(/1 tasks .*--yes/s) });
      expect(JSON.parse(plan.stdout)).toMatchObject({
        charge_microusd: reserved,
        data: [{ id, task_status: 'reconciliation_required', charge_microusd: reserved }],
      });
      // Its job was never sent, so there is nothing to fetch.
      const done = await run(...all, '--limit', '5', '--yes');
      expect(done).toMatchObject({ code: 1, stderr: '' });
      expect(JSON.parse(done.stdout)).toMatchObject({
        charge_microusd: '0',
        not_collected: 1,
        data: [{ id, outcome: expect.stringMatching(/job of the task is not known/) }],
      });
      expect(await read(`tasks/${id}`)).toMatchObject({ status: 'reconciliation_required' });
      for (const wrong of [
        ['task:resolve', '--all'],
        [...all, '--limit', '0'],
        [...all, id],
      ]) {
        expect(await run(...wrong, '--yes')).toMatchObject({ code: 1, stdout: '' });
      }
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
