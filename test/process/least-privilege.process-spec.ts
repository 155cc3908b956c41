import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { ageRows } from '../support/age-rows.js';
import { type Answer, postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { DENIED, RoleServer } from '../support/role-server.js';
import { until } from '../support/until.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const WEBHOOK_SECRET = 'a-secret-for-webhooks-0123456789';
const CHAT = { model: 'gen-5', messages: [{ role: 'user', content: 'Hi' }] };

let server: RoleServer;
let receiver: WebhookReceiver;
let settings: NodeJS.ProcessEnv;

beforeAll(async () => {
  server = await RoleServer.start();
  receiver = await startWebhookReceiver();
  await server.made('database:roles');
  await server.made('migrate');
  settings = {
    ...receiver.settings,
    ...server.ofProcess,
    MIGRATE: 'off',
    SANDBOX: 'on',
    STORAGE_URL: `file://${await temporaryFolder()}`,
    TASK_TICK_MS: '50',
    TASK_POLL_INTERVAL_MS: '200',
    RECORD_RETENTION_DAYS: '30',
  };
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await receiver.stop();
  await server.stop();
  await cleanUp();
}, PROCESS_TEST_TIMEOUT_MS);

describe('a gateway with MIGRATE=off that runs as the role of the processes', () => {
  let gateway: GatewayProgram;
  let account: Awaited<ReturnType<GatewayProgram['account']>>;
  const post = (path: string, body: object): Promise<Answer> =>
    postJson(`${gateway.url}${path}`, account.headers, body);
  const errors = () =>
    gateway
      .stdout()
      .split('\n')
      .filter((line) => /"level":"(error|fatal)"/.test(line));

  beforeAll(async () => {
    gateway = await startGatewayProgram(settings);
    account = await gateway.account();
  }, PROCESS_TEST_TIMEOUT_MS);

  afterAll(() => gateway.end('SIGTERM'));

  it(
    'serves chat, a stored response, and a song whose webhook arrives',
    async () => {
      expect((await post('/v1/chat/completions', CHAT)).status).toBe(200);
      const stored = { model: CHAT.model, input: 'Hi', store: true };
      expect((await post('/v1/responses', stored)).status).toBe(200);
      const song = { model: 'song-lyrics', prompt: 'a lullaby' };
      const webhook = { webhook: receiver.url, webhook_secret: WEBHOOK_SECRET };
      const submitted = await post('/v1/music/generations', { ...song, ...webhook });
      expect([submitted.status, submitted.json]).toMatchObject([202, {}]);
      const { id } = submitted.json as { id: string };
      const headers = { ...account.headers, prefer: 'wait=60' };
      const read = await send(`${gateway.url}/v1/tasks/${id}`, { headers });
      expect(read.json).toMatchObject({ id, status: 'succeeded' });
      await receiver.until(1);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'refunds, folds usage, and proves its books',
    async () => {
      const speech = await post('/v1/audio/speech', HELLO);
      expect(speech.status).toBe(200);
      const execution = speech.headers.get('x-gateway-execution-id') ?? '';
      expect(execution).toMatch(/^exec_/);
      await server.made(`execution:refund ${execution} --reason goodwill --yes`, settings);
      const audit = await server.made('audit --full', settings);
      expect(audit).toMatchObject({ ok: true });
      const usage = JSON.stringify(await server.made('usage --group-by model', settings));
      expect(usage).toContain(HELLO.model);
      expect(errors()).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'drops old records by the functions of the owner',
    async () => {
      const superuser = await createDataSource({ url: server.adminUrl, poolSize: 1 }).initialize();
      const left = async () => {
        const [row] = await superuser.query<{ count: number }[]>(
          'SELECT count(*)::int AS count FROM execution',
        );
        return row?.count;
      };
      expect(await left()).toBeGreaterThan(0);
      await gateway.end('SIGTERM');
      await ageRows(superuser, 40);
      gateway = await startGatewayProgram(settings);
      await until(async () => {
        // Records are dropped that an audit has read, and that are in the sums of usage.
        expect((await gateway.admin('GET', '/audit')).json).toMatchObject({ ok: true });
        await server.as('shim_run', 'SELECT record_drop_calls(30, 100)');
        return (await left()) === 0;
      }, PROCESS_TEST_TIMEOUT_MS / 2);
      await superuser.destroy();
      expect(errors()).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it.each([
    'DROP TABLE ledger_entry',
    'ALTER TABLE ledger_entry DISABLE TRIGGER USER',
    'CREATE TABLE extra (id int)',
    'TRUNCATE execution',
    'UPDATE ledger_entry SET amount = amount + 1',
    'DELETE FROM ledger_entry',
    'DELETE FROM task',
    'DELETE FROM api_key',
    'DELETE FROM usage_day',
    "SELECT record_note_dropped('{}', '{}')",
    'CREATE ROLE another',
    'SET ROLE shim_owner',
  ])('is refused: %s', async (sql) => {
    await expect(server.as('shim_run', sql)).rejects.toMatchObject(DENIED);
  });
});

describe('the role that only reads', () => {
  it.each([
    'SELECT count(*) FROM usage_day',
    'SELECT count(*) FROM usage_call',
    'SELECT sum(amount) FROM ledger_entry',
    'SELECT id, name, prefix FROM api_key',
    'SELECT id, status, charged FROM task',
    'SELECT model, charged, duration_ms FROM execution',
    'SELECT id, status, event FROM webhook_delivery',
  ])('may: %s', async (sql) => {
    expect(await server.as('shim_reader', sql)).toBeInstanceOf(Array);
  });

  it.each([
    'SELECT hash FROM api_key',
    'SELECT * FROM task',
    'SELECT webhook_secret FROM task',
    'SELECT result FROM task',
    'SELECT sealed_secret FROM webhook_endpoint',
    'SELECT body FROM webhook_delivery',
    'SELECT sealed_item FROM stored_item',
    'SELECT sealed_response FROM stored_response',
    'SELECT secret_hash FROM console_session',
    'SELECT * FROM portal_link',
    'SELECT check_value FROM sealing_key',
    'SELECT * FROM idempotency_key',
    'SELECT record_drop_calls(30, 100)',
    'SELECT record_give_back(gen_random_uuid(), gen_random_uuid())',
  ])('may not: %s', async (sql) => {
    await expect(server.as('shim_reader', sql)).rejects.toMatchObject(DENIED);
  });

  it('cannot write, whatever it sets', async () => {
    const write = 'UPDATE account SET posted = 1';
    await expect(server.as('shim_reader', write)).rejects.toMatchObject({ code: '25006' });
    await expect(server.as('shim_reader', `BEGIN READ WRITE; ${write}`)).rejects.toMatchObject(
      DENIED,
    );
  });

  it('sees no column with a secret, a hash of one, or what a caller sent', async () => {
    const columns = await server.as<{ name: string }>(
      'shim_reader',
      `SELECT c.relname || '.' || a.attname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
        WHERE c.relnamespace = 'public'::regnamespace AND has_column_privilege(c.oid, a.attnum, 'SELECT')
          AND (a.atttypid = 'bytea'::regtype OR a.attname ~ '(secret|sealed|hash|token|_key|url|input|result|memory|body|digest)$')`,
    );
    expect(columns.map(({ name }) => name).sort()).toEqual([
      'ledger_entry.idempotency_key',
      'ledger_entry.refund_key',
    ]);
  });
});
