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

const cli = (...args: string[]) => run('task:resolve', ...args);

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
      const part = await run('task:refund', id, '--amount-microusd', '1');
      expect(part.code).toBe(0);
      const [, key = ''] = /^Idempotency key: (\S+)\n$/.exec(part.stderr) ?? [];
      const same = await run('task:refund', id, '--amount-microusd', '1', '--idempotency-key', key);
      expect([same.code, same.stdout]).toEqual([0, part.stdout]);
      const { code, stdout } = await run('task:refund', id, '--note', 'sorry');
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        object: 'ledger_entry',
        kind: 'correction',
        reference: id,
        note: 'sorry',
        balance_after_microusd: String(CREDIT),
      });
      const again = await run('task:refund', id);
      expect(again).toMatchObject({ code: 1, stdout: '' });
      expect(again.stderr).toMatch(/Nothing is left/);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
