import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestAccount } from '../support/gateway.js';
import { postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { systemProgram } from '../support/system-program.js';
import { until } from '../support/until.js';

const PROGRAM = join(import.meta.dirname, '../../dist/cli.js');
const { PATH, HOME } = process.env;
const TODAY = new Date().toISOString().slice(0, 10);
const NAME = 'Acme';
const PAGE = 'docs/operate/accounting.md';
const python = systemProgram('python3');
const itWithPython = python === undefined ? it.skip : it;

let settings: NodeJS.ProcessEnv;
let gateway: GatewayProgram;
let account: TestAccount;
let execution: string;

beforeAll(async () => {
  settings = { DATA_DIR: join(await temporaryFolder(), 'data'), SECRET_KEY: '' };
  gateway = await startGatewayProgram(settings);
  account = await gateway.account(1_000_000n);
  await gateway.admin('PATCH', `/accounts/${account.accountId}`, { name: NAME });
  const call = await postJson(`${gateway.url}/v1/audio/speech`, account.headers, HELLO);
  execution = call.headers.get('x-gateway-execution-id') ?? '';
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(cleanUp, PROCESS_TEST_TIMEOUT_MS);

async function cli(...args: string[]) {
  const program = runBuilt('cli.js', args, settings);
  const { code } = await program.exited;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}
async function jsonOf<Answer = Record<string, unknown>>(...args: string[]): Promise<Answer> {
  const { code, stdout } = await cli(...args);
  expect({ args, code }).toEqual({ args, code: 0 });
  return JSON.parse(stdout) as Answer;
}

describe('money on the command line', () => {
  it(
    'is told in USD, taken in USD, and said to have moved before where a key is used again',
    async () => {
      const credit = ['account:credit', NAME, '--usd', '5.00', '--idempotency-key', 'invoice-1'];
      const first = await cli(...credit);
      expect(first.code).toBe(0);
      expect(first.stderr).toMatch(
        /^The command gave 5000000 micro-USD \(5\.00 USD\) to account acct_\w+ \(Acme\); balance after it 5\.99\d+ USD\.\n$/,
      );
      expect(JSON.parse(first.stdout)).toMatchObject({
        amount_microusd: '5000000',
        idempotency_key: 'invoice-1',
      });
      const again = await cli(...credit);
      expect([again.code, again.stdout]).toEqual([0, first.stdout]);
      expect(again.stderr).toMatch(/^Nothing was done now: .* at 20\d\d-/);
      const small = await cli('account:credit', NAME, '5', '--yes');
      expect(small.stderr).toContain('gave 5 micro-USD (0.000005 USD)');
      const taken = await cli('account:credit', NAME, '-5', '--yes');
      expect([taken.code, taken.stderr]).toEqual([
        0,
        expect.stringContaining('took 5 micro-USD (0.000005 USD) from'),
      ]);
      expect(await jsonOf('ledger', '--idempotency-key', 'invoice-1')).toMatchObject({
        data: [{ account_id: account.accountId, amount_microusd: '5000000' }],
      });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'is one CSV of the ledger over all accounts, page after page, whose days are included',
    async () => {
      const days = ['--from', TODAY, '--to', TODAY];
      const { code, stdout, stderr } = await cli(
        'ledger',
        '--csv',
        '--all',
        '--limit',
        '1',
        ...days,
      );
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.endsWith('\n') && !/\n\r?\n/.test(stdout)).toBe(true);
      const [head = '', ...lines] = stdout.trimEnd().split(/\r?\n/);
      expect(head).toMatch(/^id,created_at,account_id,account_name,kind,correction_kind,/);
      const one = await cli('ledger', '--csv', ...days);
      expect(one.stdout.trimEnd().split('\r\n')).toEqual([head, ...lines]);
      expect(lines.filter((line) => line.includes(execution))).toEqual([
        expect.stringContaining(`,${NAME},charge,,-600,-0.0006,`),
      ]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  itWithPython(
    'is reconciled with the usage by the script of the page on accounting',
    async () => {
      const [, script = ''] = /```python\n([^]*?)```/.exec(await readFile(PAGE, 'utf8')) ?? [];
      const days = ['--from', TODAY, '--to', TODAY, '--csv', '--all'];
      const folder = await temporaryFolder();
      const files = ['ledger.csv', 'usage.csv'].map((name) => join(folder, name));
      const commands = [['ledger'], ['usage', '--group-by', 'account,model']];
      for (const [index, file] of files.entries()) {
        await writeFile(file, (await cli(...(commands[index] ?? []), ...days)).stdout);
      }
      const { stdout } = await promisify(execFile)(python ?? '', ['-c', script, ...files]);
      const [head = '', ...lines] = stdout.trimEnd().split('\n');
      expect(head).toMatch(/^account\topening\t.*\tdifference$/);
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.filter((line) => !line.endsWith('\t0.000000'))).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

describe('days on the command line', () => {
  it(
    'are included, told in the answer, and refused where none lies between them',
    async () => {
      const days = ['--from', TODAY, '--to', TODAY];
      expect(await jsonOf('usage', ...days)).toMatchObject({
        data: [{ day: TODAY, calls: 1 }],
        from: TODAY,
        last_day: TODAY,
      });
      expect(await jsonOf('executions', ...days)).toMatchObject({ data: [{ id: execution }] });
      const none = await cli('usage', '--from', '2026-11-26', '--to', '2026-11-25');
      expect(none).toMatchObject({ code: 1, stdout: '' });
      expect(none.stderr).toBe('--to must not be before --from: no day lies between them.\n');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

describe('an account', () => {
  it(
    'is named by its name where that is unique',
    async () => {
      expect(await jsonOf('account', NAME)).toMatchObject({ id: account.accountId });
      expect(await jsonOf('usage', '--account-id', NAME)).toMatchObject({ data: [{ calls: 1 }] });
      expect(await jsonOf('tasks', '--account-id', NAME)).toMatchObject({ data: [] });
      const unknown = await cli('account', 'acme');
      expect(unknown).toMatchObject({ code: 1, stdout: '' });
      expect(unknown.stderr).toBe('No account has the id or the name "acme".\n');
      const twins = [
        await jsonOf('account:create', 'Twin'),
        await jsonOf('account:create', 'Twin'),
      ];
      const twice = await cli('keys', 'Twin');
      expect(twice.code).toBe(1);
      for (const { id } of twins) expect(twice.stderr).toContain(String(id));
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

describe('the terms of a key', () => {
  it(
    'are set and cleared under one name, and their changes are recorded with both values',
    async () => {
      const terms = ['--spend-limit-usd', '1.50', '--expires-at', '2099-12-31'];
      const key = await jsonOf<{ id: string }>('key:create', NAME, ...terms);
      expect(key).toMatchObject({ spend_limit_microusd: '1500000', expires_at: 4102358400 });
      await jsonOf('key:update', key.id, '--allowed-models', 'aud-v4');
      const cleared = await jsonOf('key:update', key.id, '--clear', 'allowed-models,expires-at');
      expect(cleared).toMatchObject({ allowed_models: null, expires_at: null });
      const wrong = await cli('key:update', key.id, '--clear', 'expires');
      expect([wrong.code, wrong.stderr]).toEqual([
        1,
        expect.stringMatching(/^--clear takes name, allowed-models, .*, not "expires"\./),
      ]);
      const acts = await jsonOf('actions', '--target', key.id, '--action', 'key:update');
      expect(acts).toMatchObject({
        data: [
          { outcome: 'invalid_request', before: null, after: null },
          {
            before: { allowed_models: ['aud-v4'], expires_at: 4102358400 },
            after: { allowed_models: null, expires_at: null },
          },
          { before: { allowed_models: null }, after: { allowed_models: ['aud-v4'] } },
        ],
      });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

describe('a call that was refused before its hold', () => {
  it(
    'has no record, which the command says, and one line in the log with code and param',
    async () => {
      const body = { ...HELLO, speed: 9 };
      const call = await postJson(`${gateway.url}/v1/audio/speech`, account.headers, body);
      const id = call.headers.get('x-gateway-execution-id') ?? '';
      const asked = await cli('execution', id);
      expect(asked).toMatchObject({ code: 1, stdout: '' });
      expect(asked.stderr).toMatch(/^No such execution\. A call that was refused .* log/);
      const linesOfCall = () =>
        gateway
          .stdout()
          .split('\n')
          .filter((line) => line.includes(id));
      // The log is written after the answer.
      await until(() => linesOfCall().length > 0);
      expect(linesOfCall().map((line) => JSON.parse(line) as unknown)).toEqual([
        expect.objectContaining({ msg: 'request', code: 'invalid_request', param: 'speed' }),
      ]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

describe('a table', () => {
  it.each([80, 120])(
    'fits a terminal of %i columns',
    async (columns) => {
      const shell = `stty cols ${columns}; '${process.execPath}' '${PROGRAM}' ledger --limit 3`;
      // util-linux makes the terminal.
      const child = spawn('script', ['-qec', shell, '/dev/null'], {
        env: { PATH, HOME, ...settings, TERM: 'dumb' },
        stdio: 'pipe',
        timeout: PROCESS_TEST_TIMEOUT_MS,
      });
      let shown = '';
      child.stdout.on('data', (bytes: Buffer) => (shown += bytes.toString()));
      await once(child, 'close');
      const lines = shown.split(/\r?\n/);
      expect(lines.filter((line) => line.length > columns)).toEqual([]);
      expect(shown).toMatch(/amount_microusd +-?\d+ \(-?\d+\.\d+ USD\)/);
      expect(shown).toMatch(/created_at +20\d\d-\d\d-\d\dT/);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
