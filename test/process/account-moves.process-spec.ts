import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ageRows } from '../support/age-rows.js';
import type { TestAccount } from '../support/gateway.js';
import { type Answer, errorOf, postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  SECRET_KEY,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { type Edge, startStatementProxy, type StatementProxy } from '../support/statement-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const CREDIT = 1_000_000_000n;
const CALLS = 3;
/** A pace that leaves the processor to the commands. */
const CALL_EVERY_MS = 100;
/** Fewer would be no load beside so many commands. */
const MANY_CALLS = 50;
const TASK_PATIENCE_MS = 60_000;

type Step = readonly [name: string, edge: Edge];

const before = (name: string, says: RegExp): Step => [
  `before ${name}`,
  { past: [], at: { says }, side: 'before' },
];
/** Both sides of the commit of the transaction that does the work, which also makes tables `ON COMMIT DROP`. */
const commitOf = (says: RegExp): Step[] =>
  (['before', 'after'] as const).map((side) => [
    `${side} its commit`,
    { past: [{ says }], at: { says: /COMMIT(?! DROP)/ }, side },
  ]);

const EXPORT: readonly Step[] = [
  ...commitOf(/UPDATE account SET leaving/),
  before('the file', /FROM moved_row s WHERE s.seq/),
];
const IMPORT: readonly Step[] = [
  before('the sums of all', /INSERT INTO usage_day AS d/),
  ...commitOf(/INSERT INTO account_move/),
];
const END: readonly Step[] = [
  before('its entries go', /DELETE FROM ledger_entry WHERE/),
  ...commitOf(/UPDATE account_move SET outcome/),
];

/** A deployment: gateway, database, and a proxy between commands and the database. */
interface Cell {
  readonly gateway: GatewayProgram;
  readonly database: TestDatabase;
  readonly proxy: StatementProxy;
  readonly settings: NodeJS.ProcessEnv;
}

const cells: Cell[] = [];
let stopCalls: ReturnType<typeof startCalls> | undefined;
let folder: string;

async function startCell(name: string | undefined): Promise<Cell> {
  const database = await createTestDatabase();
  const proxy = await startStatementProxy(database.url);
  const settings = {
    ...{ DATABASE_URL: database.url, DATA_DIR: join(folder, name ?? 'first'), SECRET_KEY },
    ...(name !== undefined && { CELL: name }),
  };
  const gateway = await startGatewayProgram({ ...settings, HOLD_SWEEP_MS: '1000' });
  return { gateway, database, proxy, settings };
}

async function cli({ settings }: Cell, ...args: string[]) {
  const program = runBuilt('cli.js', args, settings);
  const { code } = await program.exited;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}
async function done(cell: Cell, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await cli(cell, ...args);
  expect({ args, code, stderr }).toMatchObject({ args, code: 0 });
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Runs the command and kills it at the step, with SIGKILL. */
async function killedAt({ proxy, settings }: Cell, [name, edge]: Step, args: string[]) {
  const url = settings.DATABASE_URL ?? '';
  let reached = false;
  const program = runBuilt('cli.js', args, { ...settings, DATABASE_URL: proxy.through(url) });
  proxy.watch(edge, () => {
    reached = true;
    void program.end('SIGKILL');
  });
  const { signal } = await program.exited;
  expect({ name, reached, signal, said: program.stderr() }).toEqual({
    ...{ name, reached: true, signal: 'SIGKILL', said: '' },
  });
}

const speak = ({ gateway }: Cell, headers: Record<string, string>): Promise<Answer> =>
  postJson(`${gateway.url}/v1/audio/speech`, headers, HELLO);
const chargeOf = ({ headers }: Answer): bigint =>
  BigInt(headers.get('x-gateway-charge-microusd') ?? '0');

/** Calls of other accounts in both cells, until it is stopped: how many were made, and what they cost. */
function startCalls(accounts: readonly (readonly [Cell, TestAccount])[]) {
  const sums = { calls: 0, charged: 0n, refused: [] as string[] };
  let isOver = false;
  const loop = async (cell: Cell, { headers }: TestAccount): Promise<void> => {
    while (!isOver) {
      const answer = await speak(cell, headers);
      if (answer.status !== 200) sums.refused.push(answer.bytes.toString());
      sums.calls += 1;
      sums.charged += chargeOf(answer);
      await sleep(CALL_EVERY_MS);
    }
  };
  const running = accounts.map(([cell, account]) => loop(cell, account));
  return async () => {
    isOver = true;
    await Promise.all(running);
    return sums;
  };
}

beforeAll(async () => {
  folder = await temporaryFolder();
  cells.push(await startCell(undefined), await startCell('07'));
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await stopCalls?.();
  await cleanUp();
  for (const { database, proxy } of cells) {
    await proxy.stop();
    await database.drop();
  }
}, PROCESS_TEST_TIMEOUT_MS);

describe('an account that moves from one cell to another by the commands', () => {
  it(
    'loses and doubles nothing though each command is killed at each of its steps, beside calls in both cells (G-113)',
    async () => {
      const [first, seventh] = cells as [Cell, Cell];
      const mover = await first.gateway.account(CREDIT);
      const others = [
        [first, await first.gateway.account(CREDIT)],
        [seventh, await seventh.gateway.account(CREDIT)],
      ] as const;
      const answers = [];
      for (let call = 0; call < CALLS; call += 1) answers.push(await speak(first, mover.headers));
      expect(answers.map(({ status }) => status)).toEqual(Array(CALLS).fill(200));
      const spent = answers.reduce((sum, answer) => sum + chargeOf(answer), 0n);
      // A minute has passed in which no process had a call.
      await ageRows(first.database.dataSource, 1);
      stopCalls = startCalls(others);
      const { accountId } = mover;
      const file = join(folder, 'mover.shim-account');

      await done(first, 'account:update', accountId, '--disabled', 'true');
      const { id } = (await done(seventh, 'account:cell')) as { id: string };
      expect(id).toMatch(/^07[/]/);
      const leave = ['account:export', accountId, '--cell', id, '--to', file];
      for (const step of EXPORT) await killedAt(first, step, leave);
      // It was killed before or after the file was made.
      await rm(`${file}.unfinished`, { force: true });
      expect(await done(first, ...leave)).toMatchObject({
        posted_microusd: String(CREDIT - spent),
      });
      expect((await speak(first, mover.headers)).status).toBe(403);

      for (const step of IMPORT) await killedAt(seventh, step, ['account:import', file]);
      const again = await cli(seventh, 'account:import', file);
      expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('imported here')]);
      const receipt = /imported-[0-9a-f]{32}/.exec(again.stderr)?.[0] ?? 'none';
      const end = ['account:export', accountId, '--receipt', receipt];
      for (const step of END) await killedAt(first, step, end);
      expect(await done(first, ...end)).toMatchObject({ outcome: 'imported', audit_ok: true });

      await done(seventh, 'account:update', accountId, '--disabled', 'false');
      const { key } = (await done(seventh, 'key:create', accountId)) as { key: string };
      expect(key).toMatch(/^sk-c07-/);
      const headers = { authorization: `Bearer ${key}` };
      const moved = await speak(seventh, headers);
      expect(moved.status).toBe(200);
      // Neither the new key there nor the old key anywhere. A process may still remember the old one, with its closed account.
      const atFirst = errorOf(await speak(first, mover.headers));
      expect(['invalid_token', 'account_disabled']).toContain(atFirst.code);
      for (const answer of [await speak(first, headers), await speak(seventh, mover.headers)]) {
        expect([answer.status, errorOf(answer).code]).toEqual([401, 'invalid_token']);
      }
      for (const args of [
        ['account:update', accountId, '--disabled', 'false'],
        ['account:credit', accountId, '5', '--yes'],
        ['key:create', accountId],
      ]) {
        expect(await cli(first, ...args)).toMatchObject({
          ...{ code: 1, stdout: '', stderr: expect.stringContaining('has moved') as unknown },
        });
      }

      const { calls, charged, refused } = await stopCalls();
      stopCalls = undefined;
      expect(refused).toEqual([]);
      expect(calls).toBeGreaterThan(MANY_CALLS);
      const audits = [
        await done(first, 'audit', '--full'),
        await done(seventh, 'audit', '--full'),
      ] as { ok: boolean; posted_microusd: string }[];
      expect(audits.map(({ ok }) => ok)).toEqual([true, true]);
      const posted = audits.reduce((sum, audit) => sum + BigInt(audit.posted_microusd), 0n);
      expect(posted).toBe(3n * CREDIT - spent - charged - chargeOf(moved));
      await until(async () => {
        const { data } = (await done(seventh, 'usage', '--account-id', accountId)) as {
          data: { calls: number }[];
        };
        return data.reduce((sum, row) => sum + row.calls, 0) === CALLS + 1;
      }, TASK_PATIENCE_MS);
    },
    PROCESS_TEST_TIMEOUT_MS * 8,
  );
});
