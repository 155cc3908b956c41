import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { type Answer, postJson } from '../support/http-answer.js';
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
/** Requests with the same key at once. */
const TWINS = 3;
/** The provider thinks up to so long, so that kills fall before, in and after hold, answer, settlement and storing. */
const MAX_DELAY_MS = 150;
/** Claims and holds of a dead process end with its leases. */
const ENDED_WITHIN_MS = 90_000;
const TEST_TIMEOUT_MS = PROCESS_TEST_TIMEOUT_MS + KILLS * (ENDED_WITHIN_MS + 15_000);
const CREDIT = 1_000_000_000n;

const words = () =>
  `Say hello. [[sandbox:delay=${Math.round(Math.random() * MAX_DELAY_MS)}]] ${Math.random()}`;
const messages = () => [{ role: 'user', content: words() }];
const CALLS: readonly (() => readonly [path: string, body: object])[] = [
  () => ['/v1/chat/completions', { model: 'gen-5-mini', messages: messages() }],
  () => ['/v1/chat/completions', { model: 'gen-5-mini', messages: messages(), stream: true }],
  () => ['/v1/responses', { model: 'gen-5-mini', input: words() }],
  () => ['/v1/messages', { model: 'gen-5-mini', max_tokens: 99, messages: messages() }],
  () => ['/v1/embeddings', { model: 'gen-embed-demo', input: [words()] }],
  () => ['/v1/images/generations', { model: 'gen-image-2', prompt: words() }],
];

/** A key, its request, and the answers of 200 and 409 that it got. */
interface Keyed {
  readonly key: string;
  readonly path: string;
  readonly body: object;
  readonly answers: Answer[];
}

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
    RATE_LIMIT_RPM: '0',
  };
  gateway = await startGatewayProgram(settings);
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

const executionOf = (answer: Answer) => answer.headers.get('x-gateway-execution-id') ?? '';

/** One request; those that a kill cuts, and those that came too early after one, tell nothing. */
async function ask(headers: Readonly<Record<string, string>>, keyed: Keyed): Promise<boolean> {
  const by = { ...headers, 'idempotency-key': keyed.key };
  const answer = await postJson(gateway.url + keyed.path, by, keyed.body).catch(() => undefined);
  if (answer === undefined || answer.status === 503) return false;
  expect([200, 409]).toContain(answer.status);
  keyed.answers.push(answer);
  return true;
}

describe('keys of calls in a gateway that is killed', () => {
  it(
    'are charged at most once each, and their answers are the same whenever they are asked for (G-48)',
    async () => {
      const { headers } = await gateway.account(CREDIT);
      const all: Keyed[] = [];
      for (let kill = 0; kill < KILLS; kill += 1) {
        const underWay: Promise<unknown>[] = [];
        const diesAtMs = performance.now() + 200 + Math.random() * 900;
        while (performance.now() < diesAtMs) {
          for (const make of CALLS) {
            const [path, body] = make();
            const keyed: Keyed = { key: `key ${all.length}`, path, body, answers: [] };
            all.push(keyed);
            for (let twin = 0; twin < TWINS; twin += 1) underWay.push(ask(headers, keyed));
          }
          await sleep(100 + Math.random() * 100);
        }
        await gateway.end('SIGKILL');
        await Promise.all(underWay);
        gateway = await startGatewayProgram(settings);
      }
      // Each key is asked for until it leads to something.
      await Promise.all(all.map((keyed) => until(() => ask(headers, keyed), ENDED_WITHIN_MS)));

      const charged = await database.dataSource.query<{ key: string; charges: string }[]>(
        `SELECT k.key, count(e.id) AS charges FROM call_key k
           LEFT JOIN execution e ON e.account_id = k.account_id AND e.id = k.execution_id AND e.status = 'succeeded'
          GROUP BY k.key`,
      );
      expect(charged.filter(({ charges }) => charges !== '1')).toEqual([]);
      expect(charged).toHaveLength(all.length);
      const [sum] = await database.dataSource.query<{ charges: string }[]>(
        `SELECT count(*) AS charges FROM ledger_entry WHERE kind = 'charge'`,
      );
      const [reversed] = await database.dataSource.query<{ charges: string }[]>(
        `SELECT count(*) AS charges FROM ledger_entry WHERE reference = 'reversal'`,
      );
      expect(Number(sum?.charges) - Number(reversed?.charges)).toBe(all.length);
      for (const { answers } of all) {
        const whole = answers.filter(({ status }) => status === 200);
        expect(new Set(whole.map((answer) => answer.bytes.toString())).size).toBeLessThanOrEqual(1);
        expect(new Set(answers.map(executionOf)).size).toBe(1);
      }
      const audit = await auditLedger(database.dataSource);
      expect(audit).toMatchObject({ ok: true, discrepancies: [] });
    },
    TEST_TIMEOUT_MS,
  );
});
