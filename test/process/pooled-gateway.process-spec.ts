import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import { PgBouncer } from '../support/pgbouncer.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  statusOf,
  temporaryFolder,
} from '../support/process.js';
import { createEmptyDatabase, type EmptyDatabase } from '../support/test-database.js';
import { VIDEO } from '../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

/** Fewer make each call wait for each sum. */
const SESSIONS = 2;
const PARALLEL = 200;
const SECRET = 'a-secret-for-webhooks-0123456789';
const describeWithPgBouncer = PgBouncer.program === undefined ? describe.skip : describe;

interface Told {
  readonly id: string;
}

describeWithPgBouncer('a gateway behind PgBouncer in transaction mode with two sessions', () => {
  let pooler: PgBouncer;
  let database: EmptyDatabase;
  let receiver: WebhookReceiver;
  let gateway: GatewayProgram;
  let headers: Readonly<Record<string, string>>;

  const start = async (storage: string): Promise<GatewayProgram> =>
    startGatewayProgram({
      ...receiver.settings,
      DATABASE_URL: pooler.through(database.url),
      STORAGE_URL: storage,
      SANDBOX: 'on',
      TASK_TICK_MS: '50',
      TASK_POLL_INTERVAL_MS: '200',
    });
  const call = (path: string, body: object): Promise<Answer> =>
    postJson(`${gateway.url}${path}`, headers, body);
  const speak = () => call('/v1/audio/speech', { ...HELLO, input: 'Hello [[sandbox:instant]]' });
  const audit = async (): Promise<unknown> => (await gateway.admin('GET', '/audit')).json;
  const problems = (): string[] =>
    gateway
      .stdout()
      .split('\n')
      .filter((line) => /"level":"(error|fatal)"/.test(line));
  let storage: string;

  beforeAll(async () => {
    pooler = await PgBouncer.start(`default_pool_size = ${SESSIONS}`);
    database = await createEmptyDatabase();
    receiver = await startWebhookReceiver();
    storage = `file://${await temporaryFolder()}`;
    gateway = await start(storage);
    ({ headers } = await gateway.account());
  }, PROCESS_TEST_TIMEOUT_MS);
  afterAll(async () => {
    await cleanUp();
    await receiver.stop();
    await pooler.stop();
    await database.drop();
  }, PROCESS_TEST_TIMEOUT_MS);

  it(
    'migrates an empty database and answers every kind of call (G-105)',
    async () => {
      const chat = { model: 'gen-5-mini', messages: [{ role: 'user', content: 'Hi' }] };
      const answers = [
        await call('/v1/chat/completions', chat),
        await call('/v1/chat/completions', { ...chat, stream: true }),
        await speak(),
        await call('/v1/images/generations', { model: 'gen-image-2', prompt: 'A lighthouse' }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(answers[1]?.bytes.toString()).toMatch(/data: \[DONE\]\s*$/);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'brings a song and a video to their end and tells their webhooks',
    async () => {
      const webhook = { webhook: receiver.url, webhook_secret: SECRET };
      const tasks = [
        await call('/v1/music/generations', { model: 'song-lyrics', prompt: 'Rain', ...webhook }),
        await call('/v1/videos', { ...VIDEO, ...webhook }),
      ];
      const ids = tasks.map(({ json }) => (json as Told).id);
      const deliveries = await receiver.until(tasks.length);
      const told = deliveries.map(({ body }) => JSON.parse(body.toString()) as Told);
      expect(told.map(({ id }) => id).sort()).toEqual([...ids].sort());
      const ended = `SELECT kind, charged > 0 AS is_charged FROM task WHERE status = 'succeeded' ORDER BY kind`;
      expect(await database.query(ended)).toEqual([
        { kind: 'song', is_charged: true },
        { kind: 'video', is_charged: true },
      ]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    `answers ${PARALLEL} calls in parallel, each charged once, and stays ready`,
    async () => {
      const { accountId, headers: own } = await gateway.account();
      headers = own;
      const statuses = await Promise.all(
        Array.from({ length: PARALLEL }, async () => (await speak()).status),
      );
      expect(statuses).toEqual(Array.from({ length: PARALLEL }, () => 200));
      const sessions = `SELECT count(*)::int AS count FROM pg_stat_activity
                         WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      expect(await database.query(sessions)).toEqual([{ count: SESSIONS }]);
      expect(await statusOf(`${gateway.url}/health/ready`)).toBe(200);
      const charged = await database.query<{ calls: string }>(
        `SELECT count(*) AS calls FROM ledger_entry
          WHERE kind = 'charge' AND account_id = (replace('${accountId}', 'acct_', ''))::uuid`,
      );
      expect(charged).toEqual([{ calls: String(PARALLEL) }]);
      expect(await audit()).toMatchObject({ ok: true });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'ends on SIGTERM, starts again, serves, and has written no error',
    async () => {
      expect(await gateway.end('SIGTERM')).toEqual({ code: 0, signal: null });
      expect(problems()).toEqual([]);
      gateway = await start(storage);
      expect((await speak()).status).toBe(200);
      expect(await audit()).toMatchObject({ ok: true, held_microusd: '0' });
      expect(problems()).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
