import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { auditBooks } from '../../src/billing/audit/usage-audit.js';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';
import { DAY_MS } from '../../src/common/time/spans.js';
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
import { fundedAccount, ledgerOf, startOf, successOf } from '../support/test-ledger.js';
import { until } from '../support/until.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const OLD_DAYS = 77;
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

describe('the role of the processes', () => {
  it(
    'drops an old call by the functions of the owner, once it is in the sums and proven',
    async () => {
      const run = await createDataSource({ url: server.urlOf('shim_run') }).initialize();
      const admin = await createDataSource({ url: server.adminUrl, poolSize: 1 }).initialize();
      const { process, executions } = ledgerOf(run);
      await process.heartbeat();
      const accountId = await fundedAccount(run, 1_000n);
      const executionId = uuidV7(Date.now() - OLD_DAYS * DAY_MS);
      const start = { ...startOf(accountId, 100n), executionId };
      await executions.begin(start);
      await executions.succeed(start, successOf(100n));
      await ageRows(admin, OLD_DAYS);
      const isFolded = `SELECT FROM usage_state WHERE folded_until > now() - interval '1 minute'`;
      await until(async () => {
        await run.query(`SELECT usage_fold('1000 days', '0')`);
        return (await run.query<object[]>(isFolded)).length > 0;
      });
      expect((await auditBooks(run, 'full')).discrepancies).toEqual([]);
      const dropped = 'SELECT dropped FROM record_drop_calls(30, 100)';
      expect(await run.query(dropped)).toEqual([{ dropped: 1 }]);
      await Promise.all([run.destroy(), admin.destroy()]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

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
