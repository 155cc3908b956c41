import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { fromPublicId } from '../../src/common/ids/public-id.js';
import { postJson } from '../support/http-answer.js';
import {
  cleanUp,
  freePort,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
} from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

/** By hand more, with `KILLS=20`. */
const KILLS = Number(process.env.KILLS ?? 3);
const ROUNDS_PER_LIFE = 3;
/** A life ends so long after its first call at the latest. */
const MAX_LIFE_MS = 1_500;
/** The provider thinks up to so long, so that kills fall before, in and after its answer. */
const MAX_DELAY_MS = 400;
/** Holds of a dead process are released once its lease is over. */
const SWEPT_WITHIN_MS = 90_000;
const TEST_TIMEOUT_MS = PROCESS_TEST_TIMEOUT_MS + SWEPT_WITHIN_MS + KILLS * 15_000;
const CREDIT = 1_000_000_000n;

const words = () =>
  `Say hello. [[sandbox:delay=${Math.round(Math.random() * MAX_DELAY_MS)}]] ${Math.random()}`;
const messages = () => [{ role: 'user', content: words() }];
/** One call of each protocol of text, whole, streamed and in the background, at models of every family. */
const CALLS: readonly (() => readonly [path: string, body: object])[] = [
  () => ['/v1/chat/completions', { model: 'gen-5', messages: messages() }],
  () => ['/v1/chat/completions', { model: 'gen-claude-like', messages: messages(), stream: true }],
  () => ['/v1/chat/completions', { model: 'gen-gemini-like', messages: messages(), stream: true }],
  () => ['/v1/responses', { model: 'gen-responses-like', input: words() }],
  () => ['/v1/responses', { model: 'gen-think', input: words(), stream: true }],
  () => ['/v1/responses', { model: 'gen-5-mini', input: words(), background: true }],
  () => ['/v1/messages', { model: 'gen-claude-like', max_tokens: 200, messages: messages() }],
  () => ['/v1/messages', { model: 'gen-5', max_tokens: 99, messages: messages(), stream: true }],
  () => ['/v1/embeddings', { model: 'gen-embed-demo', input: [words(), words()] }],
];

let database: TestDatabase;
let gateway: GatewayProgram;
let settings: NodeJS.ProcessEnv;

beforeAll(async () => {
  database = await createTestDatabase();
  settings = {
    DATABASE_URL: database.url,
    PORT: String(await freePort()),
    SANDBOX: 'on',
    SANDBOX_CHARGES: 'on',
    HOLD_SWEEP_MS: '500',
    TASK_TICK_MS: '100',
  };
  gateway = await startGatewayProgram(settings);
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

/** Executions whose whole answer came, and how many calls were made. */
interface Told {
  readonly whole: string[];
  calls: number;
}

/** Makes a call of each kind at once; those that a kill cuts tell nothing. */
function callAll(headers: Readonly<Record<string, string>>, told: Told): Promise<unknown>[] {
  return CALLS.map(async (make) => {
    const [path, body] = make();
    told.calls += 1;
    const answer = await postJson(gateway.url + path, headers, body).catch(() => undefined);
    if (answer === undefined) return;
    expect([path, answer.status < 500 || answer.status === 503]).toEqual([path, true]);
    const id = answer.headers.get('x-gateway-execution-id');
    const isWhole = answer.status === 200 && !('stream' in body) && !('background' in body);
    if (isWhole && id !== null) told.whole.push(fromPublicId('exec', id) ?? id);
  });
}

describe('a gateway that is killed under calls of every protocol of text', () => {
  it(
    'charges each whole answer once, holds nothing for what was cut, and its books are exact',
    async () => {
      const { headers } = await gateway.account(CREDIT);
      const told: Told = { whole: [], calls: 0 };
      for (let life = 0; life <= KILLS; life += 1) {
        const calls: Promise<unknown>[] = [];
        for (let round = 0; round < ROUNDS_PER_LIFE; round += 1) {
          calls.push(...callAll(headers, told));
          await sleep(MAX_DELAY_MS / 2);
        }
        if (life < KILLS) {
          await sleep(Math.random() * (MAX_LIFE_MS - ROUNDS_PER_LIFE * (MAX_DELAY_MS / 2)));
          await gateway.end('SIGKILL');
          await Promise.all(calls);
          gateway = await startGatewayProgram(settings);
        } else await Promise.all(calls);
      }
      const { dataSource } = database;
      await until(async () => {
        const [open] = await dataSource.query<[{ held: string; running: string }]>(
          `SELECT (SELECT sum(held) FROM account) AS held,
                  (SELECT count(*) FROM execution WHERE status = 'running')
                  + (SELECT count(*) FROM task WHERE status IN ('queued', 'processing')) AS running`,
        );
        return open.held === '0' && open.running === '0';
      }, SWEPT_WITHIN_MS);
      expect(await auditLedger(dataSource)).toMatchObject({ ok: true });
      const charges = await dataSource.query<{ id: string; charges: string }[]>(
        `SELECT hold_id AS id, count(*) AS charges FROM ledger_entry
          WHERE kind = 'charge' GROUP BY hold_id`,
      );
      expect(charges.filter((row) => row.charges !== '1')).toEqual([]);
      const charged = new Set(charges.map(({ id }) => id));
      expect(told.whole.filter((id) => !charged.has(id))).toEqual([]);
      expect(told.whole.length).toBeGreaterThan(CALLS.length);
      expect(told.calls).toBe((KILLS + 1) * ROUNDS_PER_LIFE * CALLS.length);
    },
    TEST_TIMEOUT_MS,
  );
});
